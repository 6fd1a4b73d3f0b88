import { and, desc, eq, gte, inArray, lt, or, sql, type SQL } from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { keysParameter } from '../../db/sql/batch.ts'
import type { Executor } from '../../db/client.ts'
import { pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { sessions } from '../../db/schema/accounts.ts'
import { events, literals } from '../../db/schema/events.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { grantEventTypes, inviteEventTypes } from '../../kernel/events.ts'
import { noRows, type JsonRows, type PageRange } from '../../kernel/pagination.ts'
import type { WatchingMember } from './events-watcher.ts'
import type { Event } from './events.schemas.ts'

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
  targetId?: string
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

interface EventQuery {
  filter: EventFilter
  showsInvites: boolean
  showsAllGrants: boolean
}

const includes = (types: readonly string[], type: string | undefined) =>
  type !== undefined && types.includes(type)

/** Events of a workspace that a reader may see, newest first. `since` is inclusive, `until` is not. */
export async function listEvents(
  executor: Executor,
  input: { workspaceId: string; filter: EventFilter; view: EventView } & PageRange,
): Promise<JsonRows> {
  const { filter, view, ...range } = input
  const { showsInvites, grantsOf } = view
  if (!showsInvites && includes(inviteEventTypes, filter.type)) return noRows
  const query = { filter, showsInvites, showsAllGrants: grantsOf === undefined }
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const statement = isFiltered ? prepareEvents(executor, query) : selectUnfiltered(query)(executor)
  return readOne(statement.execute({ ...range, grantsOf }))
}

const unfiltered = [false, true].flatMap((showsInvites) =>
  [false, true].map((showsAllGrants) => {
    const query = { filter: {}, showsInvites, showsAllGrants }
    const name = `events_select_${showsInvites ? 'with' : 'without'}_invites_of_${showsAllGrants ? 'all' : 'own'}_grants`
    return { ...query, select: prepared((executor) => prepareEvents(executor, query, name)) }
  }),
)

/** The statement without filters, which is prepared once. There are too many combinations of filters for that. */
function selectUnfiltered({ showsInvites, showsAllGrants }: EventQuery) {
  const found = unfiltered.find(
    (query) => query.showsInvites === showsInvites && query.showsAllGrants === showsAllGrants,
  )
  if (!found) throw new Error('a view without a statement')
  return found.select
}

/** Prepares a query with the values `workspaceId`, `at`, `id`, `limit` and `grantsOf`; without a name for one use. */
function prepareEvents(executor: Executor, query: EventQuery, name = '') {
  return selectJsonRows(executor, selectVisible(executor, query)).prepare(name)
}

function selectVisible(executor: Executor, query: EventQuery) {
  const { filter, showsInvites, showsAllGrants } = query
  const ofGrants = showsAllGrants ? undefined : isAboutOwnGrant
  if (includes(grantEventTypes, filter.type)) return selectEvents(executor, filter, ofGrants)
  const hiddenTypes = [...(showsInvites ? [] : inviteEventTypes), ...(showsAllGrants ? [] : grantEventTypes)]
  // A filter by a type that everybody may see needs no further condition.
  if (filter.type !== undefined || hiddenTypes.length === 0) return selectEvents(executor, filter)
  const forAll = selectEvents(executor, filter, sql`${events.type} not in ${literals(hiddenTypes)}`)
  if (ofGrants === undefined) return forAll
  // Each branch uses its own index. Times as texts have the order of the times.
  return unionAll(forAll, selectEvents(executor, filter, ofGrants))
    .orderBy(sql`"createdAt" desc, "id" desc`)
    .limit(pageLimit)
}

function selectEvents(executor: Executor, filter: EventFilter, condition?: SQL) {
  const conditions: (SQL | undefined)[] = [
    eq(events.workspaceId, sql.placeholder('workspaceId')),
    filter.id === undefined ? undefined : eq(events.id, filter.id),
    filter.type === undefined ? undefined : eq(events.type, filter.type),
    filter.actorUserId === undefined ? undefined : eq(events.actorUserId, filter.actorUserId),
    filter.targetId === undefined ? undefined : eq(events.targetId, filter.targetId),
    filter.since && gte(events.createdAt, filter.since),
    filter.until && lt(events.createdAt, filter.until),
    isBefore(events.createdAt, events.id),
    condition,
  ]
  return executor
    .select(
      itemColumns<Event>({
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
      }),
    )
    .from(events)
    .where(and(...conditions))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(pageLimit)
}

/** Whether an event is about a grant of the user `grantsOf`, whoever the actor is. */
const isAboutOwnGrant = sql`${events.type} in ${literals(grantEventTypes)} and ${events.targetId} in (
  select ${agentGrants.id} from ${agentGrants}
  where ${agentGrants.workspaceId} = ${sql.placeholder('workspaceId')} and ${agentGrants.userId} = ${sql.placeholder('grantsOf')}
)`

/** Events are committed in another order than that of their times: one that is older than the newest may be new. */
const newestIds = sql`
  select ${events.id} from ${events} where ${events.workspaceId} = asked.workspace_id
  order by ${events.createdAt} desc, ${events.id} desc limit 50`

const selectDigests = prepared((executor) =>
  executor
    .select({
      workspaceId: sql<string>`asked.workspace_id`,
      digest: sql<string>`(
        select coalesce(encode(sha256(string_agg(newest.id::text, ',')::bytea), 'base64'), '')
        from (${newestIds}) as newest
      )`,
    })
    .from(sql`unnest(${keysParameter('workspaceIds', 'uuid')}) as asked (workspace_id)`)
    .prepare('events_select_digests'),
)

/** Reads a digest of the newest events of each workspace. It changes when an event is added or deleted. */
export async function readEventDigests(
  executor: Executor,
  workspaceIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await selectDigests(executor).execute({ workspaceIds })
  return new Map(rows.map(({ workspaceId, digest }) => [workspaceId, digest]))
}

const selectEndedWatches = prepared((executor) =>
  executor
    .select({ place: sql<number>`asked.place::int - 1` })
    .from(
      sql`unnest(${keysParameter('sessionIds', 'uuid')}, ${keysParameter('userIds', 'uuid')}, ${keysParameter('workspaceIds', 'uuid')})
        with ordinality as asked (session_id, user_id, workspace_id, place)`,
    )
    .where(
      sql`not exists (
          select from ${sessions} where ${sessions.id} = asked.session_id and ${sessions.expiresAt} > now()
        )
        or not exists (
          select from ${memberships}
          where ${memberships.workspaceId} = asked.workspace_id and ${memberships.userId} = asked.user_id
        )`,
    )
    .prepare('events_select_ended_watches'),
)

/** Finds those whose session or membership has ended, by their places in the list. */
export async function findEndedWatches(
  executor: Executor,
  members: readonly WatchingMember[],
): Promise<number[]> {
  const rows = await selectEndedWatches(executor).execute({
    sessionIds: members.map(({ sessionId }) => sessionId),
    userIds: members.map(({ userId }) => userId),
    workspaceIds: members.map(({ workspaceId }) => workspaceId),
  })
  return rows.map(({ place }) => place)
}
