import { sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { eventPositions, events, isFor } from '../../db/schema/events.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { jsonItem, jsonRows, readOne } from '../../db/sql/json-rows.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { startOfFeed, type FeedPosition } from '../../domain/event-cursors.ts'
import type { JsonRows } from '../../kernel/pagination.ts'
import { eventColumns, isAboutOwnGrant, type EventFilter, type EventView } from './events.repository.ts'
import type { Event } from './events.schemas.ts'

/** The events behind a position that a reader may see, oldest first. */
export interface FeedRows extends JsonRows {
  /** The positions of the rows. */
  positions: number[]
  /**
   * Where reading began: at the position that was asked for, or behind what was deleted for its age. The id is empty when no
   * event has the position.
   */
  after: FeedPosition
  /** How far was read if there are fewer rows than the limit: what is not among them up to here is not shown. */
  until: FeedPosition
  /** The position of the newest event. */
  last: number
}

/**
 * The most events that one call looks at. If most of them are not shown, there are fewer rows than the limit, and reading
 * goes on behind `until`.
 */
const examinedMax = 1_000

const workspaceId = hiddenParameter('workspaceId', 'uuid')
const types = keysParameter('types', 'text')
const notTypes = keysParameter('notTypes', 'text')
const seedId = hiddenParameter('seedId', 'uuid')
const grantId = hiddenParameter('grantId', 'uuid')

const isShown: SQL = sql`(
    ${isFor('everybody')}
    or (${isFor('managers')} and ${hiddenParameter('showsInvites', 'boolean')})
    or (${isFor('grantors')} and ${hiddenParameter('grantsOf', 'uuid')} is null)
    or (${isAboutOwnGrant})
  )
  and (${types} is null or ${events.type} = any(${types}))
  and (${notTypes} is null or ${events.type} <> all(${notTypes}))
  and (${seedId} is null or ${events.seedId} = ${seedId})
  and (${grantId} is null or ${events.grantId} = ${grantId})`

/** The id of the event with a position: also of the newest that was deleted for its age, since nothing behind it is missing. */
const idAt = (position: SQL) => sql`coalesce(
    (select ${events.id} from ${events} where ${events.workspaceId} = ${workspaceId} and ${events.position} = ${position}),
    (select ${eventPositions.deletedUntilId} from ${eventPositions}
      where ${eventPositions.workspaceId} = ${workspaceId} and ${eventPositions.deletedUntil} = ${position})
  )`

/** One statement, so that the newest position and the events are of the same moment. */
const selectChanges = prepared((executor) => {
  const { text, count } = jsonRows(sql`page.item`)
  return executor
    .select({
      text: sql<string>`found.text`,
      count: sql<number>`found.count`,
      positions: sql<string[]>`found.positions`,
      last: sql<string>`bounds.last`,
      after: sql<string>`bounds.after`,
      afterId: sql<string | null>`${idAt(sql`bounds.after`)}`,
      until: sql<string>`bounds.until`,
      untilId: sql<string | null>`${idAt(sql`bounds.until`)}`,
    })
    .from(
      sql`(
        select asked.last, asked.after, least(asked.after + ${sql.raw(String(examinedMax))}, asked.last) as until
        from (select counted.last, greatest(coalesce(${hiddenParameter('after', 'bigint')}, counted.last), counted.deleted) as after
          from (
            select coalesce(max(${eventPositions.last}), 0) as last, coalesce(max(${eventPositions.deletedUntil}), 0) as deleted
            from ${eventPositions} where ${eventPositions.workspaceId} = ${workspaceId}
          ) as counted) as asked
      ) as bounds
      cross join lateral (
        select ${text.sql} as text, ${count.sql} as count, coalesce(array_agg(page.position), '{}') as positions
        from (
          select ${jsonItem<Event>(eventColumns).sql} as item, ${events.position} as position
          from ${events}
          where ${events.workspaceId} = ${workspaceId} and ${events.position} > bounds.after
            and ${events.position} <= bounds.until and ${isShown}
          order by ${events.position}
          limit ${hiddenParameter('limit', 'int')}
        ) as page
      ) as found`,
    )
    .prepare('events_select_changes')
})

/**
 * Reads the events behind a position, at most `limit` of them; without `after` none, only the newest position.
 */
export async function readFeed(
  executor: Executor,
  input: {
    workspaceId: string
    after: number | undefined
    filter: Pick<EventFilter, 'types' | 'notTypes' | 'seedId' | 'grantId'>
    view: EventView
    seedUrlPrefix: string
    limit: number
  },
): Promise<FeedRows> {
  const { view, filter, after = null, ...rest } = input
  const { types = null, notTypes = null, seedId = null, grantId = null } = filter
  const values = { ...rest, ...view, after, types, notTypes, seedId, grantId }
  const row = await readOne(selectChanges(executor).execute(values))
  return {
    text: row.text,
    count: row.count,
    positions: row.positions.map(Number),
    after: toFeedPosition(input.workspaceId, row.after, row.afterId),
    until: toFeedPosition(input.workspaceId, row.until, row.untilId),
    last: Number(row.last),
  }
}

function toFeedPosition(ofWorkspace: string, position: string, id: string | null): FeedPosition {
  return position === '0' ? startOfFeed(ofWorkspace) : { position: Number(position), id: id ?? '' }
}

const selectPositions = prepared((executor) =>
  executor
    .select({ workspaceId: eventPositions.workspaceId, last: eventPositions.last })
    .from(eventPositions)
    .where(sql`${eventPositions.workspaceId} = any(${keysParameter('workspaceIds', 'uuid')})`)
    .prepare('events_select_positions'),
)

/** Reads the position of the newest event of each workspace; none of a workspace without events. */
export async function readEventPositions(
  executor: Executor,
  workspaceIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await selectPositions(executor).execute({ workspaceIds })
  return new Map(rows.map((row) => [row.workspaceId, row.last]))
}

/**
 * The slugs of workspaces whose last position is not that of their newest event, or of the newest that was deleted for its
 * age if none is left; at most `limit`.
 */
export async function listWrongPositions(executor: Executor, limit: number): Promise<string[]> {
  const { rows } = await executor.execute<{ slug: string }>(sql`
    select ${workspaces.slug} as slug from ${workspaces}
    left join ${eventPositions} on ${eventPositions.workspaceId} = ${workspaces.id}
    where coalesce(${eventPositions.last}, 0) <> coalesce((
      select max(${events.position}) from ${events} where ${events.workspaceId} = ${workspaces.id}
    ), ${eventPositions.deletedUntil}, 0)
    order by ${workspaces.slug} limit ${limit}`)
  return rows.map(({ slug }) => slug)
}

/** The time of the newest event of all workspaces. */
export async function findNewestEventTime(executor: Executor): Promise<Date | undefined> {
  const { rows } = await executor.execute<{ at: Date | string | null }>(sql`
    select max((
      select max(${events.createdAt}) from ${events} where ${events.workspaceId} = ${workspaces.id}
    )) as at from ${workspaces}`)
  const at = rows[0]?.at
  return at == null ? undefined : new Date(at)
}
