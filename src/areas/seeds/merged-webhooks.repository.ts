import { and, eq, inArray, isNull, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { seedMoves } from '../../db/schema/seed-moves.ts'
import { webhooks } from '../../db/schema/webhooks.ts'
import type { SeedKey } from '../../db/sql/seed-keys.ts'
import type { EventDataOf } from '../../domain/events.ts'
import { hostOf, statusOfWebhook } from '../../domain/webhooks.ts'
import { filterIdsMax } from '../../kernel/ids.ts'

/** A seed that is merged into another one. Both are locked. */
interface Merge extends SeedKey {
  intoSeedId: string
}

/** The most seeds in a list with those that merges have added: as many as can be looked up at once. */
const widenedMax = filterIdsMax

// Merges are rare: the statements are not prepared.

/**
 * Has the webhooks that get the events of a seed also get those of the one that it is merged into, whose list may become
 * longer than one that is sent, up to `widenedMax`. Notes which these are, for `narrowScopes`. Returns what their events say.
 */
export async function widenScopes(
  executor: Executor,
  { workspaceId, seedId, intoSeedId }: Merge,
): Promise<EventDataOf<'webhook.updated'>[]> {
  const isWidened = and(
    isListed(seedId),
    sql`not ${isListed(intoSeedId)}`,
    sql`cardinality(${webhooks.seedIds}) < ${widenedMax}`,
  )
  // In the order of ids, as the lists that are sent are stored.
  const seedIds = sql`array(select id from unnest(${webhooks.seedIds} || ${intoSeedId}::uuid) as id order by id)`
  const widened = await setSeedIds(executor, seedIds, { workspaceId, condition: isWidened })
  if (widened.length > 0)
    await executor
      .insert(seedMoves)
      .values(widened.map(({ webhookId }) => ({ seedId, kind: 'webhook' as const, partId: webhookId })))
  return widened
}

/**
 * Ends what `widenScopes` did, before its notes are deleted, except where somebody has taken the merged seed off the list
 * meanwhile: the other one could be all that is left, and an empty list means all events.
 */
export async function narrowScopes(
  executor: Executor,
  { workspaceId, seedId, intoSeedId }: Merge,
): Promise<EventDataOf<'webhook.updated'>[]> {
  const noted = executor
    .select({ id: seedMoves.partId })
    .from(seedMoves)
    .where(and(eq(seedMoves.seedId, seedId), eq(seedMoves.kind, 'webhook')))
  return setSeedIds(executor, sql`array_remove(${webhooks.seedIds}, ${intoSeedId}::uuid)`, {
    workspaceId,
    condition: and(inArray(webhooks.id, noted), isListed(seedId), isListed(intoSeedId)),
  })
}

const isListed = (seedId: string): SQL => sql`${seedId}::uuid = any(${webhooks.seedIds})`

async function setSeedIds(
  executor: Executor,
  seedIds: SQL,
  { workspaceId, condition }: { workspaceId: string; condition: SQL | undefined },
): Promise<EventDataOf<'webhook.updated'>[]> {
  const { id, url, disabledReason, deletedAt } = webhooks
  const changed = await executor
    .update(webhooks)
    .set({ seedIds })
    .where(and(eq(webhooks.workspaceId, workspaceId), isNull(deletedAt), condition))
    .returning({ id, url, disabledReason })
  return changed.map((webhook) => ({
    ...{ webhookId: webhook.id, host: hostOf(webhook.url) },
    fields: ['seedIds'],
    status: statusOfWebhook(webhook),
  }))
}
