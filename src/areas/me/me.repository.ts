import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/prepared.ts'
import { users } from '../../db/schema/users.ts'

export interface PreferencesRow {
  productUpdates: boolean
  workspaceActivity: boolean
}

const selectPreferences = prepared((executor) =>
  executor
    .select({ productUpdates: users.productUpdates, workspaceActivity: users.workspaceActivity })
    .from(users)
    .where(eq(users.id, sql.placeholder('userId')))
    .prepare('users_select_preferences'),
)

export async function findPreferences(
  executor: Executor,
  userId: string,
): Promise<PreferencesRow | undefined> {
  const [row] = await selectPreferences(executor).execute({ userId })
  return row
}

/** Updates the given columns of a user. */
export async function updateUser(
  executor: Executor,
  userId: string,
  change: Partial<PreferencesRow & { name: string }>,
): Promise<void> {
  await executor.update(users).set(change).where(eq(users.id, userId))
}

/** Sets the profile photo. Returns the storage key of the previous one. */
export async function replaceUserImage(
  executor: Executor,
  userId: string,
  imageKey: string,
): Promise<string | null> {
  const [before] = await executor
    .select({ imageKey: users.imageKey })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update')
  await executor.update(users).set({ imageKey }).where(eq(users.id, userId))
  return before?.imageKey ?? null
}
