import { and, desc, eq, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { contains } from '../db/contains.ts'
import { isUniqueViolation } from '../db/errors.ts'
import { hasAddress } from '../db/has-address.ts'
import { users } from '../db/schema/users.ts'
import { canonicalizeEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'

export type UserRow = typeof users.$inferSelect

/** A person to be added; what their address is compared by follows from it. */
type NewUser = Omit<typeof users.$inferInsert, 'canonicalEmail'>

/** Throws `email_taken`. */
export async function insertUser(executor: Executor, row: NewUser): Promise<void> {
  try {
    await executor.insert(users).values(withCanonicalEmail(row))
  } catch (error) {
    if (isUniqueViolation(error, 'users_canonical_email_key'))
      throw errors.emailTaken({ field: 'email', cause: error })
    throw error
  }
}

/** Adds a person, unless somebody has the address. Returns whether they were added. */
export async function insertUserIfNew(executor: Executor, row: NewUser): Promise<boolean> {
  const { rowCount } = await executor.insert(users).values(withCanonicalEmail(row)).onConflictDoNothing()
  return rowCount === 1
}

function withCanonicalEmail(row: NewUser) {
  return { ...row, canonicalEmail: canonicalizeEmail(row.email) }
}

export async function findUserByEmail(executor: Executor, email: string): Promise<UserRow | undefined> {
  const [user] = await executor.select().from(users).where(hasAddress(users.canonicalEmail, email))
  return user
}

export async function findUserById(executor: Executor, id: string): Promise<UserRow | undefined> {
  const [user] = await executor.select().from(users).where(eq(users.id, id))
  return user
}

/** A person in the operators' list. */
export interface ListedUserRow extends UserRow {
  workspaceCount: number
  /** How many people the filter matches, beyond the limit too. */
  total: number
}

/** People, newest first: all, or those with an address or a text in their name or address. */
export async function listUsers(
  executor: Executor,
  filter: { email: string | undefined; text: string | undefined; limit: number | undefined },
): Promise<ListedUserRow[]> {
  const { email, text, limit } = filter
  const rows = executor
    .select({
      user: users,
      workspaceCount: sql<number>`(
        select count(*)::int from memberships as m where m.user_id = users.id
      )`,
      total: sql<number>`count(*) over ()::int`,
    })
    .from(users)
    .where(
      and(
        email === undefined ? undefined : hasAddress(users.canonicalEmail, email),
        text === undefined ? undefined : contains(users.searchText, text),
      ),
    )
    .orderBy(desc(users.createdAt), desc(users.id))
  return (await (limit === undefined ? rows : rows.limit(limit))).map(({ user, ...counts }) => ({
    ...user,
    ...counts,
  }))
}

/** Lifts the limit of a statement's time for a transaction: to search long feeds takes longer than a request may. */
export async function allowLongStatements(transaction: Executor): Promise<void> {
  await transaction.execute(sql`set local statement_timeout = 0`)
}

/** Deletes a person with all that refers to them by `on delete cascade`. */
export async function deleteUser(executor: Executor, userId: string): Promise<void> {
  await executor.delete(users).where(eq(users.id, userId))
}

export async function hasUsers(executor: Executor): Promise<boolean> {
  const rows = await executor.select({ id: users.id }).from(users).limit(1)
  return rows.length > 0
}
