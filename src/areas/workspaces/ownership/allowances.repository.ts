import { and, eq, gt } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { workspaceAllowances } from '../../../db/schema/workspace-allowances.ts'
import type { AllowedAction } from '../../../domain/workspaces.ts'

/** What an owner allows their API keys, in which workspace. */
export interface Allowance {
  workspaceId: string
  userId: string
  action: AllowedAction
}

/** Allows an action until a time. Several times at once are once. */
export async function insertAllowance(
  executor: Executor,
  allowance: Allowance & { allowedUntil: Date },
): Promise<void> {
  const { workspaceId, userId, action } = workspaceAllowances
  await executor
    .insert(workspaceAllowances)
    .values(allowance)
    .onConflictDoUpdate({
      target: [workspaceId, userId, action],
      set: { allowedUntil: allowance.allowedUntil },
    })
}

/** Uses an allowance up. Returns false when there is none at this time. */
export async function useAllowance(
  executor: Executor,
  { workspaceId, userId, action }: Allowance,
  now: Date,
): Promise<boolean> {
  const { rowCount } = await executor
    .delete(workspaceAllowances)
    .where(
      and(
        eq(workspaceAllowances.workspaceId, workspaceId),
        eq(workspaceAllowances.userId, userId),
        eq(workspaceAllowances.action, action),
        gt(workspaceAllowances.allowedUntil, now),
      ),
    )
  return rowCount === 1
}

/** What a person allows their API keys in a workspace at a time, and until when. */
export async function listAllowances(
  executor: Executor,
  { workspaceId, userId }: Omit<Allowance, 'action'>,
  now: Date,
): Promise<{ action: AllowedAction; allowedUntil: Date }[]> {
  return executor
    .select({ action: workspaceAllowances.action, allowedUntil: workspaceAllowances.allowedUntil })
    .from(workspaceAllowances)
    .where(
      and(
        eq(workspaceAllowances.workspaceId, workspaceId),
        eq(workspaceAllowances.userId, userId),
        gt(workspaceAllowances.allowedUntil, now),
      ),
    )
}
