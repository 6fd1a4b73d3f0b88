import type { CurrentAccess } from '../../agents/oauth/consents.ts'
import { validationKitScope, type AgentScope } from '../../domain/agent.ts'
import { mayServeMembers } from '../../domain/agent-requests.ts'
import type { Role } from '../../domain/roles.ts'
import { readScopes } from '../views/scopes.views.ts'

/** What the consent page offers: a workspace, and what the agent can get there. */
export interface Offer {
  /** The workspaces of the person. */
  choices: readonly { id: string; name: string }[]
  /** The one that the page is about. */
  workspace: { id: string; name: string; role: Role }
  /** The access that the agent already has there. */
  current: CurrentAccess | undefined
  /** The scopes that the agent asks for. */
  asked: readonly AgentScope[]
  /** The scopes that the person's role there allows. */
  offered: readonly AgentScope[]
}

/** What `days` is for access that ends when it would have ended anyway. */
export const asNow = 'as-now'

type Values = Readonly<Record<string, string>>

/** What is ticked: in a form that was sent, otherwise what the agent has, as far as that is ticked for people. */
export function findTicked({ current, offered }: Offer, values: Values): Ticked {
  if (values.decision !== undefined)
    return { scopes: readScopes({ body: values }, offered), membersMayAsk: values.membersMayAsk === 'on' }
  // Inviting people and changing teams is confirmed each time.
  const scopes = current?.scopes.filter((scope) => scope !== 'workspace:write') ?? []
  return { scopes, membersMayAsk: current?.membersMayAsk ?? false }
}

/** A choice: the scopes that are ticked, and whether members may ask the agent. */
export interface Ticked {
  scopes: readonly AgentScope[]
  membersMayAsk: boolean
}

/** What a person should know before they allow what is ticked. */
export interface Warnings {
  /** What the agent has now and would lose. */
  lost: readonly AgentScope[]
  /** What the agent asks for, if it would get nothing of it. */
  notGiven: readonly AgentScope[]
  /** Whether members cannot ask it with these scopes, though that is ticked. */
  isNotAskable: boolean
}

/** The consequences of allowing what is ticked that are not obvious. */
export function findWarnings({ current, asked }: Offer, { scopes, membersMayAsk }: Ticked): Warnings {
  const isGiven = (scope: AgentScope) => scope === validationKitScope || scopes.includes(scope)
  const lost = current?.scopes.filter((scope) => !isGiven(scope)) ?? []
  const optional = asked.filter((scope) => scope !== validationKitScope)
  const isNotAskable = membersMayAsk && !mayServeMembers(scopes)
  return { lost, notGiven: optional.some(isGiven) ? [] : optional, isNotAskable }
}

/** Whether there is anything to be warned of. */
export function hasWarnings({ lost, notGiven, isNotAskable }: Warnings): boolean {
  return lost.length + notGiven.length > 0 || isNotAskable
}

/** Identifies a choice that has warnings: a form that has it as `seen` was sent from a page that showed them. */
export function describeChoice({ workspace }: Offer, { scopes, membersMayAsk }: Ticked): string {
  return [workspace.id, ...scopes, ...(membersMayAsk ? ['asked'] : [])].join(' ')
}

/**
 * Whether the person has to see the page again before their choice holds: it was made for another workspace than the one
 * that the page showed, or has warnings that the page did not show.
 */
export function isToBeSeenFirst(offer: Offer | undefined, values: Values): boolean {
  // A workspace that is not the person's is refused, not offered.
  if (!offer || offer.workspace.id !== values.workspaceId) return false
  const { shown = values.workspaceId, seen } = values
  if (shown !== values.workspaceId) return true
  const ticked = findTicked(offer, values)
  return hasWarnings(findWarnings(offer, ticked)) && seen !== describeChoice(offer, ticked)
}
