import { and, desc, eq, isNull, lte, ne, sql } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { signingKeys } from '../../../db/schema/oauth.ts'

export type SigningKeyRow = typeof signingKeys.$inferSelect

/** Lists all signing keys, newest first. */
export function listSigningKeys(executor: Executor): Promise<SigningKeyRow[]> {
  return executor.select().from(signingKeys).orderBy(desc(signingKeys.createdAt), desc(signingKeys.id))
}

export async function insertSigningKey(
  executor: Executor,
  row: typeof signingKeys.$inferInsert,
): Promise<void> {
  await executor.insert(signingKeys).values(row)
}

/** Retires all signing keys except one. Retired keys verify until `retiredKeyLimit`. */
export async function retireOtherSigningKeys(executor: Executor, id: string, now: Date): Promise<void> {
  await executor
    .update(signingKeys)
    .set({ isRetired: true, retiredAt: sql`coalesce(${signingKeys.retiredAt}, ${now.toISOString()})` })
    .where(ne(signingKeys.id, id))
}

/**
 * How long a retired key still verifies: the longest lifetime of an access token that can be configured, and five
 * minutes for other processes to load the new key.
 */
const retiredKeyKeptMs = (24 * 60 + 5) * 60 * 1000

/** The time of retirement at or before which a key no longer verifies. */
export const retiredKeyLimit = (now: Date): Date => new Date(now.getTime() - retiredKeyKeptMs)

/** Deletes the keys that no longer verify. */
export async function deleteRetiredSigningKeys(executor: Executor, now: Date): Promise<void> {
  await executor.delete(signingKeys).where(lte(signingKeys.retiredAt, retiredKeyLimit(now)))
  const isUndated = and(eq(signingKeys.isRetired, true), isNull(signingKeys.retiredAt))
  await executor.update(signingKeys).set({ retiredAt: now }).where(isUndated)
}
