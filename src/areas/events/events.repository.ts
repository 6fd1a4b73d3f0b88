import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  lt,
  ne,
  notInArray,
  or,
  sql,
  type Placeholder,
  type SQL,
} from 'drizzle-orm'
import { unionAll } from 'drizzle-orm/pg-core'
import { keysParameter } from '../../db/sql/batch.ts'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { eventUrl } from '../../db/sql/page-urls.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { sessions } from '../../db/schema/accounts.ts'
import { isActivePerson } from '../../db/schema/users.ts'
import { events, isFor } from '../../db/schema/events.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { emailField, eventKinds, isEventType, kindOf, withoutPerson } from '../../domain/events.ts'
import { eventReaders, type EventReaders } from '../../domain/events/kind.ts'
import { noRows, startOf, type JsonRows, type PageRange } from '../../kernel/pagination.ts'
import { isIn, type SeedFilter } from '../seeds/seed-lists.repository.ts'
import type { WatchingMember } from './events-watcher.ts'
import type { Event } from './events.schemas.ts'

/** How many events are erased at once. */
const eraseBatch = 1_000

/**
 * Erases a person from events: their name as an actor, and their names and addresses in the data and summaries of all
 * events of these workspaces. Events of other versions may have no data, or an unknown type: there the names and
 * addresses are searched in the summary, which also erases another person of the same name in the same workspace
 * (docs/design/accounts.md#deleting-a-person).
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
  const { userId, workspaceIds, replacement } = person
  await transaction.update(events).set({ actorName: replacement }).where(eq(events.actorUserId, userId))
  if (workspaceIds.length === 0) return
  await eraseFromData(transaction, person)
  await eraseFromSummaries(transaction, person)
}

async function eraseFromData(
  transaction: Executor,
  person: { userId: string; emails: readonly string[]; workspaceIds: readonly string[]; replacement: string },
): Promise<void> {
  const { userId, workspaceIds, replacement } = person
  const select = (after: string) =>
    transaction
      .select({ id: events.id, type: events.type, actorName: events.actorName, data: events.data })
      .from(events)
      .where(
        and(
          inArray(events.workspaceId, [...workspaceIds]),
          gt(events.id, after),
          ne(events.data, {}),
          or(
            eq(events.actorUserId, userId),
            sql`strpos(${events.data}::text, ${userId}) > 0`,
            sql`jsonb_exists(${events.data}, ${emailField})`,
          ),
        ),
      )
      .orderBy(asc(events.id))
      .limit(eraseBatch)
  for (
    let after = startOf.oldestFirst.id, rows = await select(after);
    rows.length > 0;
    rows = await select(after)
  ) {
    const changed = rows.flatMap(({ id, type, actorName, data: before }) => {
      const data = withoutPerson(before, person, replacement) ?? before
      // The sentence of a type that only a newer version knows, which may run beside this one, is searched below.
      const summary = isEventType(type) ? kindOf(type).summarize(data, actorName) : undefined
      return { id, data, summary }
    })
    await transaction.execute(sql`
      update ${events} set data = changed.data, summary = coalesce(changed.summary, ${events.summary})
      from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb) as changed (id uuid, data jsonb, summary text)
      where ${events.id} = changed.id`)
    after = String(rows.at(-1)?.id)
  }
}

async function eraseFromSummaries(
  transaction: Executor,
  person: {
    names: readonly string[]
    emails: readonly string[]
    workspaceIds: readonly string[]
    replacement: string
  },
): Promise<void> {
  const { names, emails, workspaceIds, replacement } = person
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
          or(eq(events.data, {}), notInArray(events.type, Object.keys(eventKinds))),
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
  /** Only events of these types. */
  types?: readonly string[]
  /** No events of these types. */
  notTypes?: readonly string[]
  actorUserId?: string
  targetId?: string
  /** Only events about this seed, its evidence included. */
  seedId?: string
  /** Only events of this agent. */
  grantId?: string
  /** Only events about seeds that are so now. */
  seeds?: SeedFilter
  since?: Date
  until?: Date
}

/** Which events of a workspace a reader may see. */
export interface EventView {
  /** Whether events of pending and revoked invites, and of webhooks, are shown. */
  showsInvites: boolean
  /** Only events of grants of this user; undefined: of all. */
  grantsOf: string | undefined
}

interface EventQuery {
  filter: EventFilter
  showsInvites: boolean
  showsAllGrants: boolean
}

/** Events of a workspace that a reader may see, newest first. `since` is inclusive, `until` is not. */
export async function listEvents(
  executor: Executor,
  input: { workspaceId: string; filter: EventFilter; view: EventView; seedUrlPrefix: string } & PageRange,
): Promise<JsonRows> {
  const { filter, view, ...range } = input
  const { showsInvites, grantsOf } = view
  if (filter.types?.every((type) => readersOf(type) === 'managers') && !showsInvites) return noRows
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

/** Prepares a query with the values `workspaceId`, `seedUrlPrefix`, `at`, `id`, `limit` and `grantsOf`; without a name for one use. */
function prepareEvents(executor: Executor, query: EventQuery, name = '') {
  const range: PlannedRange =
    name === ''
      ? { workspaceId: sql.placeholder('workspaceId'), limit: sql.placeholder('limit') }
      : { workspaceId: hiddenParameter('workspaceId', 'uuid'), limit: pageLimit }
  return selectJsonRows(executor, selectVisible(executor, query, range)).prepare(name)
}

/** The values are hidden in statements that are kept. Others are planned for them. */
interface PlannedRange {
  workspaceId: SQL | Placeholder
  limit: typeof pageLimit | Placeholder
}

function selectVisible(executor: Executor, query: EventQuery, range: PlannedRange) {
  const { filter, showsInvites, showsAllGrants } = query
  const shown = eventReaders.filter(
    (readers) =>
      readers === 'everybody' ||
      (readers === 'managers' && showsInvites) ||
      (readers === 'grantors' && showsAllGrants),
  )
  const { types } = filter
  const asked = types ? types.map(readersOf) : eventReaders
  if (filter.seeds) return selectEvents(executor, filter, range)
  if (filter.seedId !== undefined || asked.every((readers) => shown.includes(readers))) {
    // Needs no further condition: everybody may see all events about a seed. With it, types that all may see are found in the
    // index of those, however many others are newer.
    const areForEverybody = types?.every((type) => readersOf(type) === 'everybody')
    return selectEvents(executor, filter, range, areForEverybody ? isFor('everybody') : undefined)
  }
  if (!showsAllGrants && asked.every((readers) => readers === 'grantors'))
    return selectEvents(executor, filter, range, isAboutOwnGrant)
  const forAll = selectEvents(executor, filter, range, or(...shown.map((readers) => isFor(readers))))
  if (showsAllGrants) return forAll
  const ofGrants = selectEvents(executor, filter, range, isAboutOwnGrant)
  // Each branch uses its own index. Times as texts have the order of the times.
  return unionAll(forAll, ofGrants)
    .orderBy(sql`"createdAt" desc, "id" desc`)
    .limit(range.limit)
}

/** Who may see events of a type. What this version does not know is for managers. */
const readersOf = (type: string): EventReaders => (isEventType(type) ? kindOf(type).readers : 'managers')

/** The columns of an event as they are stored, for what is in its workspace. */
export const storedEventColumns = {
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
  data: events.data,
  createdAt: events.createdAt,
}

/** The columns of an event, as the API shows it, with the statement's `seedUrlPrefix`. */
export const eventColumns = {
  ...storedEventColumns,
  workspaceId: events.workspaceId,
  url: eventUrl(events),
}

function selectEvents(
  executor: Executor,
  filter: EventFilter,
  { workspaceId, limit }: PlannedRange,
  condition?: SQL,
) {
  const conditions: (SQL | undefined)[] = [
    eq(events.workspaceId, workspaceId),
    filter.id === undefined ? undefined : eq(events.id, filter.id),
    filter.types && inArray(events.type, [...filter.types]),
    filter.notTypes && notInArray(events.type, [...filter.notTypes]),
    filter.actorUserId === undefined ? undefined : eq(events.actorUserId, filter.actorUserId),
    filter.targetId === undefined ? undefined : eq(events.targetId, filter.targetId),
    filter.seedId === undefined ? undefined : eq(events.seedId, filter.seedId),
    filter.grantId === undefined ? undefined : eq(events.grantId, filter.grantId),
    filter.since && gte(events.createdAt, filter.since),
    filter.until && lt(events.createdAt, filter.until),
    isBefore(events.createdAt, events.id),
    condition,
  ]
  if (filter.seeds) conditions.push(isAboutChosen(filter.seeds, and(...conditions), limit))
  return executor
    .select(itemColumns<Event>(eventColumns))
    .from(events)
    .where(and(...conditions))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(limit)
}

/** How many events that match otherwise are looked at for those about seeds of a filter. */
const examinedMax = sql.raw('1000')

/**
 * Whether an event is among the newest that match other conditions and are about seeds of a filter. If too few of the newest
 * of all are, each of these seeds is asked for its newest, by their index. Everybody may see events about seeds.
 */
function isAboutChosen(filter: SeedFilter, condition: SQL | undefined, limit: PlannedRange['limit']): SQL {
  const isChosen = and(eq(seeds.workspaceId, sql.placeholder('workspaceId')), isIn(filter))
  const columns = sql`${events.id} as id, ${events.seedId} as seed_id, ${events.createdAt} as created_at`
  const newestFirst = sql`order by created_at desc, id desc`
  const isNeeded = sql`(select count(*) from looked_at) = ${examinedMax} and (select count(*) from matching) < ${limit}`
  return sql`${events.id} = any(array(
    with chosen as materialized (select ${seeds.id} as id from ${seeds} where ${isChosen}),
    looked_at as materialized (
      select ${columns} from ${events} where ${condition} and ${isFor('everybody')}
      order by ${events.createdAt} desc, ${events.id} desc limit ${examinedMax}
    ),
    matching as materialized (
      select id from looked_at where seed_id in (select id from chosen) ${newestFirst} limit ${limit}
    )
    select id from matching
    union
    select id from (
      select of_seed.id from chosen cross join lateral (
        select ${columns} from ${events} where ${condition} and ${events.seedId} = chosen.id
        order by ${events.createdAt} desc, ${events.id} desc limit ${limit}
      ) as of_seed
      where ${isNeeded}
      order by of_seed.created_at desc, of_seed.id desc limit ${limit}
    ) as of_seeds
  ))`
}

/** Whether an event is about a grant of the user `grantsOf`, whoever the actor is. */
export const isAboutOwnGrant = subquery(sql`${isFor('grantors')} and ${events.targetId} in (
  select ${agentGrants.id} from ${agentGrants}
  where ${agentGrants.workspaceId} = ${sql.placeholder('workspaceId')} and ${agentGrants.userId} = ${sql.placeholder('grantsOf')}
)`)

const selectEndedWatches = prepared((executor) =>
  executor
    .select({ ordinal: sql<number>`asked.ordinal::int - 1` })
    .from(
      sql`unnest(${keysParameter('sessionIds', 'uuid')}, ${keysParameter('userIds', 'uuid')}, ${keysParameter('workspaceIds', 'uuid')})
        with ordinality as asked (session_id, user_id, workspace_id, ordinal)`,
    )
    .where(
      subquery(sql`not exists (
          select from ${sessions} where ${sessions.id} = asked.session_id and ${sessions.expiresAt} > now()
            and ${isActivePerson(sessions.userId)}
        )
        or not exists (
          select from ${memberships}
          where ${memberships.workspaceId} = asked.workspace_id and ${memberships.userId} = asked.user_id
        )`),
    )
    .prepare('events_select_ended_watches'),
)

/** Finds those whose session or membership has ended, or who are suspended, by their ordinals in the list. */
export async function findEndedWatches(
  executor: Executor,
  members: readonly WatchingMember[],
): Promise<number[]> {
  const rows = await selectEndedWatches(executor).execute({
    sessionIds: members.map(({ sessionId }) => sessionId),
    userIds: members.map(({ userId }) => userId),
    workspaceIds: members.map(({ workspaceId }) => workspaceId),
  })
  return rows.map(({ ordinal }) => ordinal)
}
