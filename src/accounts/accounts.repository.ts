import { asc, eq, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { isUniqueViolation } from '../db/errors.ts'
import { users } from '../db/schema/users.ts'
import { errors } from '../kernel/errors.ts'

export type UserRow = typeof users.$inferSelect

/** Throws `email_taken`. */
export async function insertUser(executor: Executor, row: typeof users.$inferInsert): Promise<void> {
  try {
    await executor.insert(users).values(row)
  } catch (error) {
    if (isUniqueViolation(error, 'users_email_key')) throw errors.emailTaken({ field: 'email', cause: error })
    throw error
  }
}

/** Adds a person, unless somebody has the address. Returns whether they were added. */
export async function insertUserIfNew(executor: Executor, row: typeof users.$inferInsert): Promise<boolean> {
  const { rowCount } = await executor.insert(users).values(row).onConflictDoNothing()
  return rowCount === 1
}

export async function findUserByEmail(executor: Executor, email: string): Promise<UserRow | undefined> {
  const [user] = await executor
    .select()
    .from(users)
    .where(eq(sql`lower(${users.email})`, email.toLowerCase()))
  return user
}

export async function findUserById(executor: Executor, id: string): Promise<UserRow | undefined> {
  const [user] = await executor.select().from(users).where(eq(users.id, id))
  return user
}

/** Everybody, in the order in which they came. */
export function listUsers(executor: Executor): Promise<UserRow[]> {
  return executor.select().from(users).orderBy(asc(users.createdAt), asc(users.id))
}

export async function hasUsers(executor: Executor): Promise<boolean> {
  const rows = await executor.select({ id: users.id }).from(users).limit(1)
  return rows.length > 0
}
