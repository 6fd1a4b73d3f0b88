import type { CurrentAccess } from '../../agent-oauth/consents.ts'
import { validationKitScope, type AgentScope } from '../../domain/agent.ts'
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

/** The scopes that are ticked: those of a form that was sent, otherwise what the agent has, as far as that is ticked for people. */
export function findTicked({ current, offered }: Offer, values: Values): readonly AgentScope[] {
  if (values.decision !== undefined) return readScopes({ body: values }, offered)
  // Inviting people and changing teams is confirmed each time.
  return current?.scopes.filter((scope) => scope !== 'workspace:write') ?? []
}

/** What a person should know before they allow what is ticked. */
export interface Warnings {
  /** What the agent has now and would lose. */
  lost: readonly AgentScope[]
  /** What the agent asks for, if it would get nothing of it. */
  notGiven: readonly AgentScope[]
}

/** The consequences of allowing what is ticked that are not obvious. */
export function findWarnings({ current, asked }: Offer, ticked: readonly AgentScope[]): Warnings {
  const isGiven = (scope: AgentScope) => scope === validationKitScope || ticked.includes(scope)
  const lost = current?.scopes.filter((scope) => !isGiven(scope)) ?? []
  const optional = asked.filter((scope) => scope !== validationKitScope)
  return { lost, notGiven: optional.some(isGiven) ? [] : optional }
}

/** Identifies a choice that has warnings: a form that has it as `seen` was sent from a page that showed them. */
export function describeChoice({ workspace }: Offer, ticked: readonly AgentScope[]): string {
  return [workspace.id, ...ticked].join(' ')
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
  const ticked = readScopes({ body: values }, offer.offered)
  const { lost, notGiven } = findWarnings(offer, ticked)
  return lost.length + notGiven.length > 0 && seen !== describeChoice(offer, ticked)
}
