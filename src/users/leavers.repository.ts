import { and, eq, isNotNull } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { leavings } from '../db/schema/leavings.ts'

/** Whether a person's account is to be deleted. */
export async function isLeaving(executor: Executor, userId: string): Promise<boolean> {
  const rows = await executor
    .select({ userId: leavings.userId })
    .from(leavings)
    .where(and(eq(leavings.userId, userId), isNotNull(leavings.requestedAt)))
  return rows.length > 0
}

/** Ends what allows API keys to export and delete the account. */
export async function forbidLeaving(executor: Executor, userId: string): Promise<void> {
  await executor.update(leavings).set({ allowedUntil: null }).where(eq(leavings.userId, userId))
}
