import { and, desc, eq, gte, inArray, lt, or, sql, type SQL } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { isBefore } from '../../db/keyset.ts'
import { placeholdersOf, prepared } from '../../db/prepared.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { events, literals } from '../../db/schema/events.ts'
import { grantEventTypes, inviteEventTypes } from '../../kernel/events.ts'
import { createId } from '../../kernel/ids.ts'
import type { PageRange } from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'

/** The types of events: `target.what_happened`. */
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
  /** A sentence for people that begins with the actor's name. */
  summary: string
  at: Date
}

const insert = prepared((executor) =>
  executor.insert(events).values(placeholdersOf(events)).prepare('events_insert'),
)

/** Appends an event to a workspace's feed, in the transaction of the change that it describes. */
export async function insertEvent(
  transaction: Executor,
  principal: Principal,
  event: NewEvent,
): Promise<void> {
  const { user, source, apiKeyId, grantId } = principal
  await insert(transaction).execute({
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

/** Appends an event caused by the service, such as a grant that ended because a refresh token was reused. */
export async function insertServiceEvent(transaction: Executor, event: NewEvent): Promise<void> {
  await insert(transaction).execute({
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
 * Erases a person from events: their name as an actor, and their names and addresses in the summaries of all events of
 * these workspaces. A summary is only text, so that another person of the same name in the same workspace is erased from
 * summaries too; the actor of those events stays.
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

/** The workspaces whose events mention a person as actor or target, and the names that they had as an actor. */
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

/** A PostgreSQL regular expression that matches any of these texts, the longest first. */
function toAlternatives(texts: readonly string[]): string {
  const longestFirst = [...new Set(texts)].sort((a, b) => b.length - a.length)
  return longestFirst.map(escapePattern).join('|')
}

/** Escapes a text for a PostgreSQL regular expression. */
function escapePattern(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\s]/gu, '\\$&')
}

export interface EventFilter {
  id?: string
  type?: string
  actorUserId?: string
  since?: Date
  until?: Date
}

/** Which events of a workspace a reader may see. */
export interface EventView {
  /** Whether events of pending and revoked invites are shown. */
  showsInvites: boolean
  /** Only events of grants of this user; undefined: of all. */
  grantsOf: string | undefined
}

interface EventQuery extends PageRange {
  workspaceId: string
  filter: EventFilter
  view: EventView
}

const includes = (types: readonly string[], type: string | undefined) =>
  type !== undefined && types.includes(type)

/** Events of a workspace that a reader may see, newest first. `since` is inclusive, `until` is not. */
export async function listEvents(executor: Executor, query: EventQuery) {
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
  // A filter by a type that everybody may see needs no further condition.
  if (type !== undefined || hiddenTypes.length === 0) return selectEvents(executor, query)
  const forAll = selectEvents(executor, query, sql`${events.type} not in ${literals(hiddenTypes)}`)
  if (ownGrants === undefined) return forAll
  // Each branch uses its own index.
  return unionAll(forAll, selectEvents(executor, query, ownGrants))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(limit)
}

function selectEvents(executor: Executor, query: EventQuery, condition?: SQL) {
  const { workspaceId, filter, at, id, limit } = query
  const conditions: (SQL | undefined)[] = [
    eq(events.workspaceId, workspaceId),
    filter.id === undefined ? undefined : eq(events.id, filter.id),
    filter.type === undefined ? undefined : eq(events.type, filter.type),
    filter.actorUserId === undefined ? undefined : eq(events.actorUserId, filter.actorUserId),
    filter.since && gte(events.createdAt, filter.since),
    filter.until && lt(events.createdAt, filter.until),
    isBefore(events.createdAt, events.id, { at, id }),
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

/** Whether an event is about a grant of this user, whoever the actor is. */
function isAboutGrantOf(workspaceId: string, userId: string): SQL {
  const isOfPerson = and(eq(agentGrants.workspaceId, workspaceId), eq(agentGrants.userId, userId))
  return sql`${events.type} in ${literals(grantEventTypes)} and ${events.targetId} in (
    select ${agentGrants.id} from ${agentGrants} where ${isOfPerson}
  )`
}
