import { and, desc, eq, inArray, lt, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readOne, selectJsonRows, timestampText } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { isSortedInto } from '../../db/sql/seed-sorting.ts'
import { events } from '../../db/schema/events.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { webhookDeliveries, webhooks } from '../../db/schema/webhooks.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { DeliveryStatus, WebhookScope } from '../../domain/webhooks.ts'
import type { WebhookRow } from './webhooks.repository.ts'
import type { WebhookDelivery } from './webhooks.schemas.ts'

const { webhookId, eventId, status, nextAttemptAt } = webhookDeliveries

const listFilters: Record<DeliveryStatus | 'all', SQL | undefined> = {
  all: undefined,
  // As literals, so that PostgreSQL can use the partial index.
  pending: sql`${status} = 'pending'`,
  failed: sql`${status} = 'failed'`,
  delivered: sql`${status} = 'delivered'`,
}

const selectPages = (Object.entries(listFilters) as [DeliveryStatus | 'all', SQL | undefined][]).map(
  ([name, filter]) => ({
    name,
    select: prepared((executor) =>
      selectJsonRows(
        executor,
        executor
          .select(
            itemColumns<WebhookDelivery>({
              id: sql`${eventId}`,
              eventId,
              type: webhookDeliveries.type,
              status,
              attempts: webhookDeliveries.attempts,
              lastStatus: webhookDeliveries.lastStatus,
              lastError: webhookDeliveries.lastError,
              // A pause delays what would be due in it.
              nextAttemptAt: timestampText(
                sql`case when ${nextAttemptAt} is not null
                  then greatest(${nextAttemptAt}, ${hiddenParameter('pausedUntil', 'timestamptz')}) end`,
              ),
              createdAt: webhookDeliveries.createdAt,
              deliveredAt: webhookDeliveries.deliveredAt,
            }),
          )
          .from(webhookDeliveries)
          .where(
            and(
              eq(webhookId, hiddenParameter('webhookId', 'uuid')),
              filter,
              isBefore(webhookDeliveries.createdAt, eventId),
            ),
          )
          .orderBy(desc(webhookDeliveries.createdAt), desc(eventId))
          .limit(pageLimit),
      ).prepare(`webhook_deliveries_select_${name}`),
    ),
  }),
)

/** Deliveries of a webhook, newest first. */
export function listDeliveries(
  executor: Executor,
  input: { webhookId: string; pausedUntil: Date | null; status: DeliveryStatus | undefined } & PageRange,
): Promise<JsonRows> {
  const { status: filter = 'all', pausedUntil, ...range } = input
  const values = { ...range, pausedUntil: pausedUntil?.toISOString() ?? null }
  const found = selectPages.find(({ name }) => name === filter)
  if (!found) throw new Error('a status without a statement')
  return readOne(found.select(executor).execute(values))
}

/** What makes a delivery as new. */
const asNew = (now: Date) => ({
  status: 'pending' as const,
  attempts: 0,
  nextAttemptAt: now,
  leasedUntil: null,
  deliveredAt: null,
})

/** Makes a delivery pending again, with ten attempts from now on. Returns whether there is one. */
export async function redeliver(
  executor: Executor,
  delivery: { webhookId: string; eventId: string; now: Date },
): Promise<boolean> {
  const { rowCount } = await executor
    .update(webhookDeliveries)
    .set(asNew(delivery.now))
    .where(and(eq(webhookId, delivery.webhookId), eq(eventId, delivery.eventId)))
  return rowCount === 1
}

/**
 * Has all events of a time delivered to a webhook that wants them: those that it got, those whose delivery failed,
 * and those for which it got none. Returns their number, or undefined without a change if they are more than `limit`.
 * `since` is inclusive, `until` is not.
 */
export async function redeliverBetween(
  executor: Executor,
  input: {
    workspaceId: string
    webhook: Pick<WebhookRow, 'id' | 'format' | 'types' | WebhookScope>
    since: Date
    until: Date
    now: Date
    limit: number
  },
): Promise<number | undefined> {
  const { limit, now, since, until, workspaceId, webhook } = input
  const { format, seedIds, types } = webhook
  const asked = executor
    .select({ id: events.id, type: events.type, createdAt: events.createdAt })
    .from(events)
    .where(
      and(
        eq(events.workspaceId, workspaceId),
        sql`${events.createdAt} >= ${since.toISOString()}`,
        lt(events.createdAt, until),
        types.length > 0 ? inArray(events.type, types) : undefined,
        // Of a chat, as `wantsEvent` of new events has it.
        types.length === 0 && format !== null ? eq(events.readers, 'everybody') : undefined,
        seedIds.length > 0 ? inArray(events.seedId, seedIds) : undefined,
        isOfSortedSeed(executor, workspaceId, webhook),
      ),
    )
    .limit(limit + 1)
    .as('asked')
  const [found] = await executor.select({ count: sql<number>`count(*)::int` }).from(asked)
  const count = found?.count ?? 0
  if (count > limit) return undefined
  await executor
    .insert(webhookDeliveries)
    .select(
      executor
        .select({
          webhookId: sql<string>`${webhook.id}::uuid`.as('webhook_id'),
          eventId: sql<string>`${asked.id}`.as('event_id'),
          type: sql<string>`${asked.type}`.as('type'),
          status: sql<'pending'>`'pending'`.as('status'),
          attempts: sql<number>`0`.as('attempts'),
          lastStatus: sql<null>`null::integer`.as('last_status'),
          lastError: sql<null>`null`.as('last_error'),
          nextAttemptAt: sql<Date>`${now.toISOString()}::timestamptz`.as('next_attempt_at'),
          leasedUntil: sql<null>`null::timestamptz`.as('leased_until'),
          createdAt: sql<Date>`${asked.createdAt}`.as('created_at'),
          deliveredAt: sql<null>`null::timestamptz`.as('delivered_at'),
        })
        .from(asked)
        // Two of these wait for each other instead of locking each other out.
        .orderBy(asked.id),
    )
    .onConflictDoUpdate({ target: [webhookId, eventId], set: asNew(now) })
  return count
}

/** Whether an event is about a seed of the teams and labels of a webhook; undefined if it has none. */
function isOfSortedSeed(
  executor: Executor,
  workspaceId: string,
  { teamIds, labelIds }: Pick<WebhookRow, 'teamIds' | 'labelIds'>,
): SQL | undefined {
  if (teamIds.length === 0 && labelIds.length === 0) return undefined
  const lists = { teamIds: sql`${sql.param(teamIds)}::uuid[]`, labelIds: sql`${sql.param(labelIds)}::uuid[]` }
  const sorted = executor
    .select({ id: seeds.id })
    .from(seeds)
    .where(and(eq(seeds.workspaceId, workspaceId), isSortedInto(lists)))
  return inArray(events.seedId, sorted)
}

/** Deletes deliveries that were created before a time. */
export async function deleteOldDeliveries(executor: Executor, before: Date): Promise<void> {
  // By webhook, as the index is.
  await executor
    .delete(webhookDeliveries)
    .where(
      and(
        inArray(webhookId, executor.select({ id: webhooks.id }).from(webhooks)),
        lt(webhookDeliveries.createdAt, before),
      ),
    )
}

/** Deletes the deliveries of all webhooks that wait. Returns their number. */
export async function deletePendingDeliveries(executor: Executor): Promise<number> {
  const { rowCount } = await executor.delete(webhookDeliveries).where(eq(webhookDeliveries.status, 'pending'))
  return rowCount ?? 0
}

/** The number of deliveries of all webhooks that wait. */
export async function countPendingDeliveries(executor: Executor): Promise<number> {
  return executor.$count(webhookDeliveries, eq(webhookDeliveries.status, 'pending'))
}
