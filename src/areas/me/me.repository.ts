import { eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { users } from '../../db/schema/users.ts'

export interface PreferencesRow {
  productUpdates: boolean
  workspaceActivity: boolean
}

const isUser = eq(users.id, sql.placeholder('userId'))

const selectOfUser = (executor: Executor) =>
  executor
    .select({ productUpdates: users.productUpdates, workspaceActivity: users.workspaceActivity })
    .from(users)
    .where(isUser)

const selectPreferences = prepared((executor) => selectOfUser(executor).prepare('users_select_preferences'))
const lockPreferencesOfUser = prepared((executor) =>
  selectOfUser(executor).for('no key update').prepare('users_lock_preferences'),
)

/** `isLocked`: the user is locked until the transaction ends. */
export async function findPreferences(
  executor: Executor,
  userId: string,
  { isLocked = false } = {},
): Promise<PreferencesRow | undefined> {
  const select = isLocked ? lockPreferencesOfUser : selectPreferences
  const [row] = await select(executor).execute({ userId })
  return row
}

/** Reads the name of a user and locks the user until the transaction ends. */
export async function lockName(executor: Executor, userId: string): Promise<string | undefined> {
  const [row] = await selectLockedName(executor).execute({ userId })
  return row?.name
}

const selectLockedName = prepared((executor) =>
  executor
    .select({ name: users.name })
    .from(users)
    .where(isUser)
    .for('no key update')
    .prepare('users_lock_name'),
)

const setName = prepared((executor) =>
  executor
    .update(users)
    .set({ name: sql`${sql.placeholder('name')}` })
    .where(isUser)
    .prepare('users_set_name'),
)

export async function updateName(executor: Executor, userId: string, name: string): Promise<void> {
  await setName(executor).execute({ userId, name })
}

const setPreferences = prepared((executor) =>
  executor
    .update(users)
    .set({
      productUpdates: sql`${sql.placeholder('productUpdates')}`,
      workspaceActivity: sql`${sql.placeholder('workspaceActivity')}`,
    })
    .where(isUser)
    .prepare('users_set_preferences'),
)

export async function updatePreferences(
  executor: Executor,
  userId: string,
  { productUpdates, workspaceActivity }: PreferencesRow,
): Promise<void> {
  await setPreferences(executor).execute({ userId, productUpdates, workspaceActivity })
}

/** Sets or removes the profile photo. Returns the storage key of the previous one. */
export async function replaceUserImage(
  executor: Executor,
  userId: string,
  imageKey: string | null,
): Promise<string | null> {
  const [before] = await executor
    .select({ imageKey: users.imageKey })
    .from(users)
    .where(eq(users.id, userId))
    .for('no key update')
  await executor.update(users).set({ imageKey }).where(eq(users.id, userId))
  return before?.imageKey ?? null
}
