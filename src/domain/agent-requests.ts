import type { AgentScope } from './agent.ts'

/** How what somebody asked of an agent stands. */
export const agentRequestStates = ['waiting', 'answered', 'declined', 'expired', 'cancelled'] as const
export type AgentRequestState = (typeof agentRequestStates)[number]

/** How long an agent has for an answer. */
export const agentRequestMs = 48 * 60 * 60 * 1000

/** The most requests that wait for a grant. */
export const waitingRequestsMax = 20

/** The most requests of a person in a workspace in 24 hours. */
export const requestsOfAskerMax = 20
export const requestsCountedMs = 24 * 60 * 60 * 1000

/** The version of the consent since which an agent can be asked. */
export const askedConsentVersion = 2

/** What a grant must allow so that its agent can be asked: to see the request, and to answer. */
export const scopesToBeAsked = ['workspace:read', 'seeds:write'] as const satisfies readonly AgentScope[]

/** The scope with which an agent is for its own person alone, since it changes who is in the workspace. */
export const ownPersonScope = 'workspace:write' satisfies AgentScope

/** Whether a person may let others ask an agent with these scopes. */
export function mayServeMembers(scopes: readonly string[]): boolean {
  return scopesToBeAsked.every((scope) => scopes.includes(scope)) && !scopes.includes(ownPersonScope)
}
