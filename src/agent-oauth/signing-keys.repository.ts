import { and, desc, eq, isNull, lte, ne, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { signingKeys } from '../db/schema/oauth.ts'

export type SigningKeyRow = typeof signingKeys.$inferSelect

/** Every signing key, newest first. */
export function listSigningKeys(executor: Executor): Promise<SigningKeyRow[]> {
  return executor.select().from(signingKeys).orderBy(desc(signingKeys.createdAt), desc(signingKeys.id))
}

export async function insertSigningKey(
  executor: Executor,
  row: typeof signingKeys.$inferInsert,
): Promise<void> {
  await executor.insert(signingKeys).values(row)
}

/** Lets no key but one sign any more. They go on verifying for a while. */
export async function retireOtherSigningKeys(executor: Executor, id: string, now: Date): Promise<void> {
  await executor
    .update(signingKeys)
    .set({ isRetired: true, retiredAt: sql`coalesce(${signingKeys.retiredAt}, ${now.toISOString()})` })
    .where(ne(signingKeys.id, id))
}

/**
 * How long a key verifies after it was retired: as long as the longest access token that can be configured, and a while
 * in which other processes have yet to hear of it.
 */
const retiredKeyKeptMs = (24 * 60 + 5) * 60 * 1000

/** Keys that were retired at this time or before verify no more. */
export const retiredKeyLimit = (now: Date): Date => new Date(now.getTime() - retiredKeyKeptMs)

/** Deletes the keys that verify no more. */
export async function deleteRetiredSigningKeys(executor: Executor, now: Date): Promise<void> {
  await executor.delete(signingKeys).where(lte(signingKeys.retiredAt, retiredKeyLimit(now)))
  const isUndated = and(eq(signingKeys.isRetired, true), isNull(signingKeys.retiredAt))
  await executor.update(signingKeys).set({ retiredAt: now }).where(isUndated)
}
