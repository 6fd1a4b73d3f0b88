import { desc, ne } from 'drizzle-orm'
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

/** Lets no key but one sign any more. They all go on verifying. */
export async function retireOtherSigningKeys(executor: Executor, id: string): Promise<void> {
  await executor.update(signingKeys).set({ isRetired: true }).where(ne(signingKeys.id, id))
}
