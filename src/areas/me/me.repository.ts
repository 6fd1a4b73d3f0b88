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

/** Changes what is given of a user, and nothing else. */
export async function updateUser(
  executor: Executor,
  userId: string,
  change: Partial<PreferencesRow & { name: string }>,
): Promise<void> {
  await executor.update(users).set(change).where(eq(users.id, userId))
}
