import { and, eq, sql } from 'drizzle-orm'
import { insertServiceEvent } from '../../access/event-log.repository.ts'
import { lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { jsonItem } from '../../db/sql/json-rows.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { events } from '../../db/schema/events.ts'
import { webhookDeliveries, webhooks } from '../../db/schema/webhooks.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { eventColumns } from '../events/events.repository.ts'
import type { Event } from '../events/events.schemas.ts'
import { hostOf, type WebhookFormat } from '../../domain/webhooks.ts'
import type { DeliveryOutcome } from './delivery-outcomes.ts'
import { disableWebhook, listOwnerIds, secretColumns, type WebhookSecrets } from './webhooks.repository.ts'

/** A delivery that this process is to send now, with what it needs for that. */
export interface ClaimedDelivery extends WebhookSecrets {
  webhookId: string
  eventId: string
  type: string
  /** The attempts before this one. */
  attempts: number
  createdAt: Date
  leasedUntil: Date
  event: Event
  /** Of the event in its workspace. */
  position: number
  workspaceId: string
  url: string
  format: WebhookFormat | null
  /** The types that its webhook wants. */
  types: string[]
  failingSince: Date | null
  slowedCount: number
}

export interface ClaimOptions {
  /** What the URLs of seeds begin with. */
  seedUrlPrefix: string
  now: Date
  leasedUntil: Date
  /** The most requests. */
  limit: number
  /** The most of them to webhooks whose last attempt failed. */
  failingLimit: number
}

/** The most requests at once to the receiver of one webhook. */
const atOnceMax = 4
/** The most events that one message to a chat is about. */
export const messageEventsMax = 100
/** A chat gets a message a minute: what happens meanwhile is in the next one. */
const messageEvery = sql`interval '1 minute'`
/** The most webhooks from which one claim takes deliveries. */
const webhooksAtOnceMax = 64

const time = (name: string) => hiddenParameter(name, 'timestamptz')

const { webhookId, eventId, status, nextAttemptAt, leasedUntil } = webhookDeliveries
const isPending = sql`${status} = 'pending'`

/** The order of requests: each delivery is one, but those to a chat are one together. */
const requestOrder = sql`case when ready.is_chat then ready.next_attempt_at else found.next_attempt_at end, ready.id,
  case when not ready.is_chat then found.event_id end`

/**
 * The deliveries to send now. The webhooks that have pending ones are found by skipping from one to the next in the index
 * of what is due, so that it does not matter how many wait for later. The locks on the deliveries are for what changes them
 * otherwise; claims themselves take turns.
 */
const dueDeliveries = sql`(
  with recursive waiting as (
    (
      select ${webhookId}, ${nextAttemptAt} from ${webhookDeliveries} where ${isPending}
      order by ${webhookId}, ${nextAttemptAt} limit 1
    )
    union all
    select next.webhook_id, next.next_attempt_at
    from waiting, lateral (
      select ${webhookId}, ${nextAttemptAt} from ${webhookDeliveries}
      where ${isPending} and ${webhookId} > waiting.webhook_id
      order by ${webhookId}, ${nextAttemptAt} limit 1
    ) as next
  ), ready as (
    select *
    from (
      select ${webhooks.id} as id, ${webhooks.failingSince} is not null as is_failing, waiting.next_attempt_at,
        ${webhooks.format} is not null as is_chat,
        case when ${webhooks.format} is not null then case in_progress when 0 then ${sql.raw(String(messageEventsMax))} else 0 end
          when ${webhooks.slowedCount} > 0 then 1 - in_progress
          else ${sql.raw(String(atOnceMax))} - in_progress
        end as free
      from waiting join ${webhooks} on ${webhooks.id} = waiting.webhook_id, lateral (
        select count(*) as in_progress from ${webhookDeliveries}
        where ${webhookId} = ${webhooks.id} and ${leasedUntil} > ${time('now')}
      ) as leased
      where waiting.next_attempt_at <= ${time('now')}
        and ${webhooks.disabledReason} is null and ${webhooks.deletedAt} is null
        and (${webhooks.pausedUntil} is null or ${webhooks.pausedUntil} <= ${time('now')})
    ) as due
    where free > 0
    order by is_failing, next_attempt_at limit ${sql.raw(String(webhooksAtOnceMax))}
  ), numbered as (
    select found.*, ready.is_failing,
      dense_rank() over (partition by ready.is_failing order by ${requestOrder}) as number,
      dense_rank() over (order by ready.is_failing, ${requestOrder}) as number_of_all
    from ready, lateral (
      select ${webhookId}, ${eventId}, ${nextAttemptAt} from ${webhookDeliveries}
      where ${webhookId} = ready.id and ${isPending} and ${nextAttemptAt} <= ${time('now')}
        and (${leasedUntil} is null or ${leasedUntil} <= ${time('now')})
        and exists (select from ${events} where ${events.id} = ${eventId})
      order by ${nextAttemptAt} limit ready.free
      for no key update skip locked
    ) as found
  )
  select webhook_id, event_id from numbered
  where (not is_failing or number <= ${hiddenParameter('failingLimit', 'int')}) and number_of_all <= ${pageLimit}
) as due`

const updateClaimed = prepared((executor) =>
  executor
    .update(webhookDeliveries)
    .set({ leasedUntil: sql`${sql.placeholder('leasedUntil')}::timestamptz` })
    .from(dueDeliveries)
    .innerJoin(webhooks, sql`${webhooks.id} = due.webhook_id`)
    .innerJoin(events, sql`${events.id} = due.event_id`)
    .where(sql`${webhookId} = due.webhook_id and ${eventId} = due.event_id`)
    .returning({
      webhookId,
      eventId,
      type: webhookDeliveries.type,
      attempts: webhookDeliveries.attempts,
      createdAt: webhookDeliveries.createdAt,
      event: sql<Event>`${jsonItem<Event>(eventColumns).sql}`,
      position: events.position,
      workspaceId: webhooks.workspaceId,
      url: webhooks.url,
      format: webhooks.format,
      types: webhooks.types,
      ...secretColumns,
      failingSince: webhooks.failingSince,
      slowedCount: webhooks.slowedCount,
    })
    .prepare('webhook_deliveries_claim'),
)

const lockClaims = prepared((executor) =>
  executor
    .select({ lock: sql`pg_advisory_xact_lock(hashtextextended('webhook deliveries', 0))` })
    .from(sql`(values (0)) as claims`)
    .prepare('webhook_deliveries_lock_claims'),
)

/**
 * Leases the deliveries that are due: the oldest first, those to healthy webhooks before those to failing ones. No other
 * claim returns them until `leasedUntil`. Claims of all processes take turns, so that a receiver never has more than four
 * requests at once, and a chat one, with all that is due. One round trip.
 */
export async function claimDeliveries(db: Database, options: ClaimOptions): Promise<ClaimedDelivery[]> {
  const { seedUrlPrefix, now, leasedUntil, limit, failingLimit } = options
  const values = {
    now: now.toISOString(),
    leasedUntil: leasedUntil.toISOString(),
    limit,
    failingLimit,
    seedUrlPrefix,
  }
  let claimed: Omit<ClaimedDelivery, 'leasedUntil'>[] = []
  await db.transaction(async (tx, write) => {
    write(() => lockClaims(tx).execute())
    write(async () => {
      claimed = await updateClaimed(tx).execute(values)
    })
  })
  return claimed.map((delivery) => ({ ...delivery, leasedUntil }))
}

type DeliveryKey = Pick<ClaimedDelivery, 'webhookId' | 'eventId' | 'leasedUntil'>

// It may have been claimed by another process since, or be asked for again.
const isLeased = and(
  eq(webhookId, sql.placeholder('webhookId')),
  eq(eventId, sql.placeholder('eventId')),
  eq(leasedUntil, sql`${sql.placeholder('leasedUntil')}::timestamptz`),
)

const updateOutcome = prepared((executor) =>
  executor
    .update(webhookDeliveries)
    .set({
      status: sql`${sql.placeholder('status')}::text`,
      attempts: sql`${webhookDeliveries.attempts} + 1`,
      lastStatus: sql`${sql.placeholder('lastStatus')}::integer`,
      lastError: sql`${sql.placeholder('lastError')}::text`,
      nextAttemptAt: sql`${sql.placeholder('nextAttemptAt')}::timestamptz`,
      deliveredAt: sql`${sql.placeholder('deliveredAt')}::timestamptz`,
      leasedUntil: null,
    })
    .where(isLeased)
    .prepare('webhook_deliveries_record'),
)

/** How far `lastDeliveryAt` of a busy webhook may be behind. */
const deliveryRecordedEvery = sql`interval '10 seconds'`

const now = sql`${sql.placeholder('now')}::timestamptz`

const updateAfterDelivery = prepared((executor) =>
  executor
    .update(webhooks)
    .set({
      lastDeliveryAt: now,
      failingSince: null,
      slowedCount: 0,
      pausedUntil: sql`case when ${webhooks.format} is not null then ${now} + ${messageEvery} end`,
      pauseReason: null,
    })
    .where(
      and(
        eq(webhooks.id, sql.placeholder('webhookId')),
        sql`(
          ${webhooks.failingSince} is not null or ${webhooks.slowedCount} > 0 or ${webhooks.lastDeliveryAt} is null
          or ${webhooks.format} is not null
          or ${webhooks.lastDeliveryAt} < ${now} - ${deliveryRecordedEvery}
        )`,
      ),
    )
    .prepare('webhooks_record_delivery'),
)

const pausedUntil = sql`${sql.placeholder('pausedUntil')}::timestamptz`

const updateAfterFailure = prepared((executor) =>
  executor
    .update(webhooks)
    .set({
      lastFailureAt: now,
      failingSince: sql`coalesce(${webhooks.failingSince}, ${now})`,
      slowedCount: sql`${webhooks.slowedCount} + case when ${pausedUntil} is null then 0 else 1 end`,
      pausedUntil: sql`greatest(${webhooks.pausedUntil}, ${pausedUntil})`,
      pauseReason: sql`case when ${pausedUntil} < ${webhooks.pausedUntil} then ${webhooks.pauseReason}
        else coalesce(${sql.placeholder('pauseReason')}::text, ${webhooks.pauseReason}) end`,
    })
    .where(eq(webhooks.id, sql.placeholder('webhookId')))
    .prepare('webhooks_record_failure'),
)

/** What became of a delivery in an attempt. */
export interface DeliveryResult<Delivery = DeliveryKey> {
  delivery: Delivery
  outcome: DeliveryOutcome
}

/** Records the results of one request to a webhook, of each unless its lease is over. One round trip. */
export async function recordResults(
  db: Database,
  results: readonly DeliveryResult[],
  now: Date,
): Promise<void> {
  await db.transaction(async (tx, write) => {
    for (const result of results) write(() => writeOutcome(tx, result, now))
    const [first] = results
    if (first) write(() => writeOutcomeOfWebhook(tx, first, now))
  })
}

function writeOutcome(tx: Executor, { delivery, outcome }: DeliveryResult, now: Date) {
  return updateOutcome(tx).execute({
    ...keyOf(delivery),
    status: outcome.status,
    lastStatus: outcome.lastStatus,
    lastError: outcome.lastError,
    nextAttemptAt: outcome.nextAttemptAt?.toISOString() ?? null,
    deliveredAt: outcome.status === 'delivered' ? now.toISOString() : null,
  })
}

function writeOutcomeOfWebhook(tx: Executor, { delivery, outcome }: DeliveryResult, now: Date) {
  const values = { webhookId: delivery.webhookId, now: now.toISOString() }
  return outcome.status === 'delivered'
    ? updateAfterDelivery(tx).execute(values)
    : updateAfterFailure(tx).execute({
        ...values,
        pausedUntil: outcome.pausedUntil?.toISOString() ?? null,
        pauseReason: outcome.pauseReason,
      })
}

function keyOf(delivery: DeliveryKey) {
  return { ...delivery, leasedUntil: delivery.leasedUntil.toISOString() }
}

/**
 * Records the results of a request after which the webhook is to be disabled, and disables it, with an event and a mail to
 * each owner; once for a webhook. `failingBefore`: only if nothing was delivered since that time.
 */
export async function recordAndDisable(
  { db, jobs }: { db: Database; jobs: JobQueue },
  results: readonly DeliveryResult<DeliveryKey & { workspaceId: string; url: string }>[],
  { now, failingBefore }: { now: Date; failingBefore?: Date },
): Promise<void> {
  const [first] = results
  if (!first) return
  const { webhookId, workspaceId, url } = first.delivery
  await db.transaction(async (tx) => {
    // As changes of webhooks do, and before the webhook, as those who delete a workspace.
    await lockMembersOfWorkspace(tx, workspaceId)
    for (const result of results) await writeOutcome(tx, result, now)
    await writeOutcomeOfWebhook(tx, first, now)
    const reason = failingBefore ? ('failing' as const) : ('gone' as const)
    if (!(await disableWebhook(tx, webhookId, { reason, ...(failingBefore && { failingBefore }) }))) return
    for (const userId of await listOwnerIds(tx, workspaceId))
      await jobs.enqueue(tx, 'send_webhook_disabled', { webhookId, userId }, { requestId: undefined })
    await insertServiceEvent(tx, {
      workspaceId,
      type: 'webhook.disabled',
      data: { webhookId, host: hostOf(url), reason },
      at: now,
    })
  })
}

const updateReleased = prepared((executor) =>
  executor
    .update(webhookDeliveries)
    .set({ leasedUntil: null })
    .where(isLeased)
    .prepare('webhook_deliveries_release'),
)

/** Gives back a delivery whose attempt was not finished, so that another process sends it at once. */
export async function releaseDelivery(executor: Executor, delivery: DeliveryKey): Promise<void> {
  const { webhookId, eventId } = delivery
  await updateReleased(executor).execute({ ...keyOf(delivery), webhookId, eventId })
}

/** Removes a delivery that its webhook may not have any more. */
export async function discardDelivery(executor: Executor, delivery: DeliveryKey): Promise<void> {
  const { webhookId: webhook, eventId: event } = delivery
  await executor.delete(webhookDeliveries).where(and(eq(webhookId, webhook), eq(eventId, event)))
}
