import { and, eq, isNotNull } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { accountDeletions } from '../db/schema/account-deletions.ts'

/** Whether a person's account is to be deleted. */
export async function isLeaving(executor: Executor, userId: string): Promise<boolean> {
  const rows = await executor
    .select({ userId: accountDeletions.userId })
    .from(accountDeletions)
    .where(and(eq(accountDeletions.userId, userId), isNotNull(accountDeletions.requestedAt)))
  return rows.length > 0
}

/** Ends what allows API keys to export and delete the account. */
export async function forbidLeaving(executor: Executor, userId: string): Promise<void> {
  await executor
    .update(accountDeletions)
    .set({ allowedUntil: null })
    .where(eq(accountDeletions.userId, userId))
}
