import { and, desc, eq, isNotNull, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { isUniqueViolation } from '../db/errors.ts'
import { hasAddress } from '../db/sql/has-address.ts'
import { prepared } from '../db/sql/prepared.ts'
import { users } from '../db/schema/users.ts'
import { canonicalizeEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'
import { deleteIfReserved } from './reserved-addresses.repository.ts'

export type UserRow = typeof users.$inferSelect

/** A new person. The canonical email address is derived. */
type NewUser = Omit<typeof users.$inferInsert, 'canonicalEmail'>

/** Throws `email_taken`, also for an address that is reserved (docs/design/sessions.md#taking-an-address-back). */
export async function insertUser(executor: Executor, row: NewUser): Promise<void> {
  try {
    await executor.insert(users).values(withCanonicalEmail(row))
  } catch (error) {
    if (isUniqueViolation(error, 'users_canonical_email_key'))
      throw errors.emailTaken({ field: 'email', cause: error })
    throw error
  }
  if (await deleteIfReserved(executor, row)) throw errors.emailTaken({ field: 'email' })
}

/** Inserts a person unless the email address is taken or reserved. Returns whether they were inserted. */
export async function insertUserIfNew(executor: Executor, row: NewUser): Promise<boolean> {
  const { rowCount } = await executor.insert(users).values(withCanonicalEmail(row)).onConflictDoNothing()
  // The same statements in any case, so that the time does not reveal whether the address is taken.
  const isReserved = await deleteIfReserved(executor, row)
  return rowCount === 1 && !isReserved
}

function withCanonicalEmail(row: NewUser) {
  return { ...row, canonicalEmail: canonicalizeEmail(row.email) }
}

const selectLocked = prepared((executor) =>
  executor
    .select()
    .from(users)
    .where(eq(users.id, sql.placeholder('userId')))
    .for('no key update')
    .prepare('users_lock'),
)

/**
 * Reads a user and locks the row until the transaction ends, so that transactions that count what the user has run one
 * after another. What is read may differ from the start of the request; undefined for somebody who is deleted.
 */
export async function lockUser(executor: Executor, userId: string): Promise<UserRow | undefined> {
  const [user] = await selectLocked(executor).execute({ userId })
  return user
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
  /** The number of people that match the filter, regardless of the limit. */
  total: number
}

/** Lists people, newest first. `text` is a part of the name or email address. */
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
        eq(users.kind, 'person'),
        email === undefined ? undefined : hasAddress(users.canonicalEmail, email),
        text === undefined
          ? undefined
          : sql`position(lower(${text}::text) in lower(${users.name} || ' ' || ${users.email})) > 0`,
      ),
    )
    .orderBy(desc(users.createdAt), desc(users.id))
  return (await (limit === undefined ? rows : rows.limit(limit))).map(({ user, ...counts }) => ({
    ...user,
    ...counts,
  }))
}

/** Deletes a person and all rows that refer to them with `on delete cascade`. */
export async function deleteUser(executor: Executor, userId: string): Promise<void> {
  await executor.delete(users).where(eq(users.id, userId))
}

export async function hasUsers(executor: Executor): Promise<boolean> {
  const rows = await executor.select({ id: users.id }).from(users).limit(1)
  return rows.length > 0
}

/** Whether a person is suspended. */
export async function isSuspended(executor: Executor, userId: string): Promise<boolean> {
  const rows = await executor
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), isNotNull(users.suspendedAt)))
  return rows.length > 0
}

/** Suspends a person, or with null ends it. */
export async function setSuspended(executor: Executor, userId: string, at: Date | null): Promise<void> {
  await executor.update(users).set({ suspendedAt: at }).where(eq(users.id, userId))
}
