import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { writeLast } from '../db/transactions.ts'
import { events } from '../db/schema/events.ts'
import { webhookDeliveries, webhooks } from '../db/schema/webhooks.ts'
import { hiddenParameter } from '../db/sql/hidden-parameter.ts'
import { placeholdersOf, prepared } from '../db/sql/prepared.ts'
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
  { user, source, apiKeyId, grantId }: Principal,
  event: NewEvent,
  onDeliveries?: () => void,
): Promise<void> {
  const actor: Actor = {
    actorType: source === 'mcp' ? 'agent' : source === 'system' ? 'system' : 'user',
    actorUserId: user.id,
    actorName: user.name,
    grantId,
    apiKeyId,
    source,
  }
  await append(transaction, event, actor, onDeliveries)
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
  await append(transaction, event, {
    actorType: 'system',
    actorUserId: null,
    actorName,
    grantId: 'grantId' in event.data ? event.data.grantId : null,
    apiKeyId: null,
    source: 'system',
  })
}

type Actor = Pick<
  typeof events.$inferInsert,
  'actorType' | 'actorUserId' | 'actorName' | 'grantId' | 'apiKeyId' | 'source'
>

async function append(
  transaction: Executor,
  { workspaceId, type, data, at }: NewEvent,
  actor: Actor,
  onDeliveries?: () => void,
): Promise<void> {
  const { target, summarize } = kindOf(type)
  const [targetType, idField] = target
  const id = createId()
  const row = {
    id,
    workspaceId,
    type,
    ...actor,
    data,
    seedId: seedIdOf(data),
    targetType,
    targetId: (data as Record<string, unknown>)[idField],
    summary: summarize(data, actor.actorName),
    createdAt: at,
  }
  const delivering = writeLast(transaction, beforeEvents + workspaceId, async (executor) => {
    const values = { eventId: id, workspaceId, type, at: at.toISOString() }
    const { rowCount } = await insertDeliveries(executor).execute(values)
    if (rowCount !== null && rowCount > 0) onDeliveries?.()
  })
  // Both at once: the caller does not wait for this function.
  const inserting = writeLast(transaction, workspaceId, (executor) => insert(executor).execute(row))
  await together([delivering, inserting])
}

/** Sorts before every id: the deliveries of all events of a transaction lock their webhooks before its first event. */
const beforeEvents = ' '

/** Has an event delivered to the active webhooks of its workspace that want its type. */
const insertDeliveries = prepared((executor) => {
  const at = sql<Date>`${sql.placeholder('at')}::timestamptz`
  return executor
    .insert(webhookDeliveries)
    .select((query) =>
      query
        .select({
          webhookId: webhooks.id,
          eventId: sql<string>`${sql.placeholder('eventId')}::uuid`.as('event_id'),
          type: sql<string>`${sql.placeholder('type')}::text`.as('type'),
          status: sql<'pending'>`'pending'`.as('status'),
          attempts: sql<number>`0`.as('attempts'),
          lastStatus: sql<null>`null::integer`.as('last_status'),
          lastError: sql<null>`null`.as('last_error'),
          nextAttemptAt: at.as('next_attempt_at'),
          leasedUntil: sql<null>`null::timestamptz`.as('leased_until'),
          createdAt: at.as('created_at'),
          deliveredAt: sql<null>`null::timestamptz`.as('delivered_at'),
        })
        .from(webhooks)
        .where(
          and(
            eq(webhooks.workspaceId, hiddenParameter('workspaceId', 'uuid')),
            isNull(webhooks.deletedAt),
            isNull(webhooks.disabledReason),
            sql`(${webhooks.types} = '{}' or ${sql.placeholder('type')} = any(${webhooks.types}))`,
          ),
        ),
    )
    .prepare('webhook_deliveries_insert')
})
