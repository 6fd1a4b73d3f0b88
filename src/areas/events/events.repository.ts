import { and, desc, eq, gte, inArray, lt, or, sql, type SQL } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { events, literals } from '../../db/schema/events.ts'
import { grantEventTypes, inviteEventTypes } from '../../kernel/events.ts'
import { createId } from '../../kernel/ids.ts'
import type { Position } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'

/** The kinds of change that a workspace's feed tells of: `target.what_happened`. */
export type EventType =
  | 'workspace.created'
  | 'workspace.updated'
  | 'workspace.icon_changed'
  | 'member.joined'
  | 'member.role_changed'
  | 'member.removed'
  | 'member.left'
  | (typeof inviteEventTypes)[number]
  | 'invite.accepted'
  | 'team.created'
  | 'team.renamed'
  | 'team.deleted'
  | 'team.member_added'
  | 'team.member_removed'
  | 'seed.created'
  | 'seed.updated'
  | 'seed.joined'
  | 'seed.left'
  | 'seed.deleted'
  | 'evidence.added'
  | (typeof grantEventTypes)[number]

export interface NewEvent {
  workspaceId: string
  type: EventType
  target?: {
    type: 'workspace' | 'user' | 'invite' | 'team' | 'seed' | 'evidence' | 'integration'
    id: string
  }
  /** What happened, in words that a person understands, the actor's name first. */
  summary: string
  at: Date
}

/** Adds an event to a workspace's feed. Give it the transaction of the change itself: neither stands without the other. */
export async function appendEvent(
  transaction: Executor,
  principal: Principal,
  event: NewEvent,
): Promise<void> {
  const { user, source, apiKeyId, grantId } = principal
  await transaction.insert(events).values({
    id: createId(),
    workspaceId: event.workspaceId,
    type: event.type,
    actorType: source === 'mcp' ? 'agent' : source === 'system' ? 'system' : 'user',
    actorUserId: user.id,
    actorName: user.name,
    grantId,
    apiKeyId,
    source,
    targetType: event.target?.type ?? null,
    targetId: event.target?.id ?? null,
    summary: event.summary,
    createdAt: event.at,
  })
}

/** Adds an event that nobody did but the service, such as the end of access that was used twice. */
export async function appendServiceEvent(transaction: Executor, event: NewEvent): Promise<void> {
  await transaction.insert(events).values({
    id: createId(),
    workspaceId: event.workspaceId,
    type: event.type,
    actorType: 'system',
    actorUserId: null,
    actorName: 'The service',
    grantId: event.target?.type === 'integration' ? event.target.id : null,
    apiKeyId: null,
    source: 'system',
    targetType: event.target?.type ?? null,
    targetId: event.target?.id ?? null,
    summary: event.summary,
    createdAt: event.at,
  })
}

/**
 * Takes a person out of the feeds: their name where they acted, and their names and addresses in the words of all events
 * of these workspaces. The words are all that some events have of a person, so that somebody else of the same name in
 * the same workspace loses theirs there as well; who acted is kept apart, and stays.
 */
export async function erasePersonFromEvents(
  transaction: Executor,
  person: {
    userId: string
    names: readonly string[]
    emails: readonly string[]
    workspaceIds: readonly string[]
    replacement: string
  },
): Promise<void> {
  const { userId, names, emails, workspaceIds, replacement } = person
  await transaction.update(events).set({ actorName: replacement }).where(eq(events.actorUserId, userId))
  if (workspaceIds.length === 0) return
  const ofNames = `(?<![[:alnum:]])(${toAlternatives(names)})(?![[:alnum:]])`
  const ofEmails = `(?<![[:alnum:]._%+-])(${toAlternatives(emails)})(?![[:alnum:]-]|\\.[[:alnum:]])`
  for (const [pattern, flags] of [
    [ofEmails, 'gi'],
    [ofNames, 'g'],
  ] as const) {
    await transaction
      .update(events)
      .set({ summary: sql`regexp_replace(${events.summary}, ${pattern}, ${replacement}, ${flags})` })
      .where(
        and(
          inArray(events.workspaceId, [...workspaceIds]),
          sql`regexp_like(${events.summary}, ${pattern}, ${flags.replace('g', '')})`,
        ),
      )
  }
}

/** In which workspaces a person has acted or was acted upon, and what they were called as an actor. */
export async function findTracesInEvents(
  executor: Executor,
  userId: string,
): Promise<{ workspaceIds: string[]; names: string[] }> {
  const rows = await executor
    .selectDistinct({
      workspaceId: events.workspaceId,
      name: sql<string | null>`case when ${events.actorUserId} = ${userId} then ${events.actorName} end`,
    })
    .from(events)
    .where(or(eq(events.actorUserId, userId), eq(events.targetId, userId)))
  return {
    workspaceIds: [...new Set(rows.map((row) => row.workspaceId))],
    names: [...new Set(rows.flatMap((row) => row.name ?? []))],
  }
}

/** Texts as a regular expression of PostgreSQL: the longest first, so that no part of one is left. */
function toAlternatives(texts: readonly string[]): string {
  const longestFirst = [...new Set(texts)].sort((a, b) => b.length - a.length)
  return longestFirst.map(escapePattern).join('|')
}

/** A text as a regular expression of PostgreSQL that matches it alone. */
function escapePattern(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\s]/gu, '\\$&')
}

export type EventRow = Omit<typeof events.$inferSelect, 'workspaceId'>

export interface EventFilter {
  type?: string
  actorUserId?: string
  since?: Date
  until?: Date
}

/** What a reader may see of a workspace's events. */
export interface EventView {
  /** Whether invites that are not accepted are shown. */
  showsInvites: boolean
  /** Whose grants are shown: those of this person, or, when it is undefined, everybody's. */
  grantsOf: string | undefined
}

interface EventQuery {
  workspaceId: string
  filter: EventFilter
  view: EventView
  before: Position | undefined
  limit: number
}

const includes = (types: readonly string[], type: string | undefined) =>
  type !== undefined && types.includes(type)

/**
 * Events of a workspace that a reader may see, newest first, from before a position on. `since` is inclusive, `until` is
 * not.
 */
export async function listEvents(executor: Executor, query: EventQuery): Promise<EventRow[]> {
  const { filter, view, limit } = query
  const { type } = filter
  const { showsInvites, grantsOf } = view
  if (!showsInvites && includes(inviteEventTypes, type)) return []
  const ownGrants = grantsOf === undefined ? undefined : isAboutGrantOf(query.workspaceId, grantsOf)
  if (includes(grantEventTypes, type)) return selectEvents(executor, query, ownGrants)
  const hiddenTypes = [
    ...(showsInvites ? [] : inviteEventTypes),
    ...(grantsOf === undefined ? [] : grantEventTypes),
  ]
  // One type that is for all hides nothing.
  if (type !== undefined || hiddenTypes.length === 0) return selectEvents(executor, query)
  const forAll = selectEvents(executor, query, sql`${events.type} not in ${literals(hiddenTypes)}`)
  if (ownGrants === undefined) return forAll
  // Each by an index of its own, and merged.
  return unionAll(forAll, selectEvents(executor, query, ownGrants))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(limit)
}

function selectEvents(executor: Executor, query: EventQuery, condition?: SQL) {
  const { workspaceId, filter, before, limit } = query
  const conditions: (SQL | undefined)[] = [
    eq(events.workspaceId, workspaceId),
    filter.type === undefined ? undefined : eq(events.type, filter.type),
    filter.actorUserId === undefined ? undefined : eq(events.actorUserId, filter.actorUserId),
    filter.since && gte(events.createdAt, filter.since),
    filter.until && lt(events.createdAt, filter.until),
    before && sql`(${events.createdAt}, ${events.id}) < (${before[0]}::timestamptz, ${before[1]}::uuid)`,
    condition,
  ]
  return executor
    .select({
      id: events.id,
      type: events.type,
      actorType: events.actorType,
      actorUserId: events.actorUserId,
      actorName: events.actorName,
      grantId: events.grantId,
      apiKeyId: events.apiKeyId,
      source: events.source,
      targetType: events.targetType,
      targetId: events.targetId,
      summary: events.summary,
      createdAt: events.createdAt,
    })
    .from(events)
    .where(and(...conditions))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(limit)
}

/** Whether an event is about what a person has allowed an agent, whoever has acted. */
function isAboutGrantOf(workspaceId: string, userId: string): SQL {
  const isOfPerson = and(eq(agentGrants.workspaceId, workspaceId), eq(agentGrants.userId, userId))
  return sql`${events.type} in ${literals(grantEventTypes)} and ${events.targetId} in (
    select ${agentGrants.id} from ${agentGrants} where ${isOfPerson}
  )`
}
