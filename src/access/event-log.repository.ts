import { and, eq, isNull, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { writeLast } from '../db/transactions.ts'
import { events } from '../db/schema/events.ts'
import { seeds } from '../db/schema/seeds.ts'
import { webhookDeliveries, webhooks } from '../db/schema/webhooks.ts'
import { keysParameter } from '../db/sql/batch.ts'
import { hiddenParameter } from '../db/sql/hidden-parameter.ts'
import { placeholdersOf, prepared } from '../db/sql/prepared.ts'
import { isSortedInto } from '../db/sql/seed-sorting.ts'
import { subquery } from '../db/schema/subquery.ts'
import { together } from '../db/together.ts'
import { kindOf, seedIdOf, type Happening } from '../domain/events.ts'
import { createId } from '../kernel/ids.ts'
import { serviceActorName, type Principal } from '../domain/principal.ts'

/** An event to append. Its target and its summary are made from `data` (`eventKinds`). */
export type NewEvent = Happening & {
  workspaceId: string
  at: Date
}

const insert = prepared((executor) =>
  executor.insert(events).values(placeholdersOf(events, 'position')).prepare('events_insert'),
)

/**
 * Appends an event to a workspace's feed, in the transaction of the change that it describes. It is the last statement of
 * the transaction, whenever this is called (`writeLast`): all later events of the workspace wait for the commit. Its
 * deliveries to webhooks come before it; `onDeliveries` is called before the commit if there are any.
 */
export async function insertEvent(
  transaction: Executor,
  principal: EventActor,
  event: NewEvent,
  onDeliveries?: () => void,
): Promise<void> {
  await append(transaction, event, toActor(principal), onDeliveries)
}

/** Who caused an event. */
export type EventActor = Pick<Principal, 'source' | 'apiKeyId' | 'grantId' | 'isService' | 'requestId'> & {
  user: Pick<Principal['user'], 'id' | 'name'>
}

/**
 * Appends the same event in each of some workspaces, as `insertEvent` does in one, by one statement. The caller has made sure
 * that the workspaces stay until the end of the transaction.
 */
export async function insertEventInEach(
  transaction: Executor,
  actor: EventActor,
  event: Happening & { workspaceIds: readonly string[]; at: Date },
  onDeliveries?: () => void,
): Promise<void> {
  const workspaceIds = event.workspaceIds.toSorted()
  const [first] = workspaceIds
  if (first === undefined) return
  const ids = workspaceIds.map(() => createId())
  const row = toRow(event, toActor(actor))
  const values = { ...row, data: JSON.stringify(row.data), at: event.at.toISOString(), ids, workspaceIds }
  const delivering = writeLast(transaction, beforeEvents + first, async (executor) => {
    const { rowCount } = await insertDeliveriesOfEach(executor).execute(values)
    if (rowCount !== null && rowCount > 0) onDeliveries?.()
  })
  const inserting = writeLast(transaction, first, (executor) => insertInEach(executor).execute(values))
  await together([delivering, inserting])
}

/**
 * Appends an event caused by the service, such as a grant that ended because a refresh token was reused, or by somebody
 * who has no account, such as an operator.
 */
export async function insertServiceEvent(
  transaction: Executor,
  event: NewEvent,
  actorName = serviceActorName,
): Promise<void> {
  const grantId = 'grantId' in event.data ? event.data.grantId : null
  await append(transaction, event, { ...serviceActor(actorName), grantId })
}

type Actor = Pick<
  typeof events.$inferInsert,
  'actorType' | 'actorUserId' | 'actorName' | 'grantId' | 'apiKeyId' | 'source'
>

function toActor(actor: EventActor): Actor {
  const { user, source, apiKeyId, grantId } = actor
  return {
    actorType: typeOf(actor),
    actorUserId: user.id,
    actorName: user.name,
    grantId,
    apiKeyId,
    source,
  }
}

function typeOf({ source, isService }: EventActor): Actor['actorType'] {
  if (source === 'mcp') return 'agent'
  if (source === 'system') return 'system'
  return isService ? 'service' : 'user'
}

const serviceActor = (actorName = serviceActorName): Actor => ({
  ...{ actorType: 'system', actorUserId: null, actorName },
  ...{ grantId: null, apiKeyId: null, source: 'system' },
})

/** What is stored of an event in any workspace. */
function toRow({ type, data }: Happening, actor: Actor) {
  const { readers, target, summarize } = kindOf(type)
  const [targetType, idField] = target
  return {
    type,
    readers,
    ...actor,
    data,
    seedId: seedIdOf(data),
    targetType,
    targetId: (data as Record<string, unknown>)[idField],
    summary: summarize(data, actor.actorName, actor.actorUserId),
  }
}

async function append(
  transaction: Executor,
  { workspaceId, at, ...happening }: NewEvent,
  actor: Actor,
  onDeliveries?: () => void,
): Promise<void> {
  const id = createId()
  const { type } = happening
  const row = { id, workspaceId, ...toRow(happening, actor), createdAt: at }
  const delivering = writeLast(transaction, beforeEvents + workspaceId, async (executor) => {
    const { readers, seedId } = row
    const values = { eventId: id, workspaceId, type, readers, seedId, at: at.toISOString() }
    const insertThem = seedId === null ? insertDeliveries : insertDeliveriesOfSeed
    const { rowCount } = await insertThem(executor).execute(values)
    if (rowCount !== null && rowCount > 0) onDeliveries?.()
  })
  // Both at once: the caller does not wait for this function.
  const inserting = writeLast(transaction, workspaceId, (executor) => insert(executor).execute(row))
  await together([delivering, inserting])
}

/** Sorts before every id: the deliveries of all events of a transaction lock their webhooks before its first event. */
const beforeEvents = ' '

const text = (name: string) => sql<string>`${sql.placeholder(name)}::text`
const uuid = (name: string) => sql<string>`${sql.placeholder(name)}::uuid`
const eventAt = sql<Date>`${sql.placeholder('at')}::timestamptz`

/** The events of `insertEventInEach`: their ids beside their workspaces. */
const told = sql`unnest(${keysParameter('ids', 'uuid')}, ${keysParameter('workspaceIds', 'uuid')}) as told (id, workspace_id)`

const insertInEach = prepared((executor) =>
  executor
    .insert(events)
    .select((query) =>
      query
        .select({
          id: sql<string>`told.id`.as('id'),
          workspaceId: sql<string>`told.workspace_id`.as('workspace_id'),
          type: text('type').as('type'),
          readers: text('readers').as('readers'),
          actorType: text('actorType').as('actor_type'),
          actorUserId: uuid('actorUserId').as('actor_user_id'),
          actorName: text('actorName').as('actor_name'),
          grantId: uuid('grantId').as('grant_id'),
          apiKeyId: uuid('apiKeyId').as('api_key_id'),
          source: text('source').as('source'),
          targetType: text('targetType').as('target_type'),
          targetId: uuid('targetId').as('target_id'),
          summary: text('summary').as('summary'),
          data: sql`${sql.placeholder('data')}::jsonb`.as('data'),
          seedId: uuid('seedId').as('seed_id'),
          createdAt: eventAt.as('created_at'),
          // A trigger gives it.
          position: sql<number>`null::bigint`.as('position'),
        })
        .from(told)
        .orderBy(sql`told.workspace_id`),
    )
    .prepare('events_insert_in_each'),
)

/** A new delivery to a webhook. */
const newDelivery = (eventId: SQL<string>) => ({
  webhookId: webhooks.id,
  eventId: eventId.as('event_id'),
  type: text('type').as('type'),
  status: sql<'pending'>`'pending'`.as('status'),
  attempts: sql<number>`0`.as('attempts'),
  lastStatus: sql<null>`null::integer`.as('last_status'),
  lastError: sql<null>`null`.as('last_error'),
  nextAttemptAt: eventAt.as('next_attempt_at'),
  leasedUntil: sql<null>`null::timestamptz`.as('leased_until'),
  createdAt: eventAt.as('created_at'),
  deliveredAt: sql<null>`null::timestamptz`.as('delivered_at'),
})

/** Whether a webhook is active and wants events of the type. A chat gets what only some people may see if it is named. */
const wantsType = and(
  isNull(webhooks.deletedAt),
  isNull(webhooks.disabledReason),
  sql`case when ${webhooks.types} = '{}' then ${webhooks.format} is null or ${text('readers')} = 'everybody'
    else ${sql.placeholder('type')} = any(${webhooks.types}) end`,
)

/** Whether it wants those of no seed. Their statement does not name the table of seeds: it goes on while that is locked. */
const wantsNoSeed = sql`(${webhooks.seedIds} = '{}' and ${webhooks.teamIds} = '{}' and ${webhooks.labelIds} = '{}')`

/** Whether it wants those of the seed. */
const wantsSeed = and(
  sql`(${webhooks.seedIds} = '{}' or ${uuid('seedId')} = any(${webhooks.seedIds}))`,
  subquery(sql`(${webhooks.teamIds} = '{}' and ${webhooks.labelIds} = '{}' or exists (
    select from ${seeds} where ${seeds.workspaceId} = ${webhooks.workspaceId} and ${seeds.id} = ${hiddenParameter('seedId', 'uuid')}
      and ${isSortedInto(webhooks)}
  ))`),
)

/** Has an event delivered to the active webhooks of its workspace that want it. */
const deliveriesOf = (wanted: SQL | undefined, name: string) =>
  prepared((executor) =>
    executor
      .insert(webhookDeliveries)
      .select((query) =>
        query
          .select(newDelivery(uuid('eventId')))
          .from(webhooks)
          .where(and(eq(webhooks.workspaceId, hiddenParameter('workspaceId', 'uuid')), wantsType, wanted)),
      )
      .prepare(name),
  )

const insertDeliveries = deliveriesOf(wantsNoSeed, 'webhook_deliveries_insert')
const insertDeliveriesOfSeed = deliveriesOf(wantsSeed, 'webhook_deliveries_insert_of_seed')

/** The same of an event that is told in several workspaces, which is about no seed. */
const insertDeliveriesOfEach = prepared((executor) =>
  executor
    .insert(webhookDeliveries)
    .select((query) =>
      query
        .select(newDelivery(sql<string>`told.id`))
        .from(told)
        .innerJoin(webhooks, and(sql`${webhooks.workspaceId} = told.workspace_id`, wantsType, wantsNoSeed)),
    )
    .prepare('webhook_deliveries_insert_of_each'),
)
