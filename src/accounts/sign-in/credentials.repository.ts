import { and, eq, gt, isNull, lte, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hasAddress } from '../../db/sql/has-address.ts'
import { accountTokens, identities, passwords } from '../../db/schema/accounts.ts'
import { users } from '../../db/schema/users.ts'
import type { AccountTokenPurpose } from '../../domain/accounts.ts'
import type { UserRow } from '../../users/users.repository.ts'

export async function findPasswordHash(executor: Executor, userId: string): Promise<string | undefined> {
  const [row] = await executor
    .select({ hash: passwords.hash })
    .from(passwords)
    .where(eq(passwords.userId, userId))
  return row?.hash
}

/** The hash of a person's password, and of the browser that it was chosen in at sign-up. */
export async function findChosenPassword(
  executor: Executor,
  userId: string,
): Promise<{ hash: string; browserHash: Buffer | null } | undefined> {
  const [row] = await executor
    .select({ hash: passwords.hash, browserHash: passwords.browserHash })
    .from(passwords)
    .where(eq(passwords.userId, userId))
  return row
}

/** Finds a person with their password hash, in one query, so that the time does not reveal whether they exist. */
export async function findUserWithPassword(
  executor: Executor,
  email: string,
): Promise<{ user: UserRow; hash: string | null } | undefined> {
  const [row] = await executor
    .select({ user: users, hash: passwords.hash })
    .from(users)
    .leftJoin(passwords, eq(passwords.userId, users.id))
    .where(hasAddress(users.canonicalEmail, email))
  return row
}

/** Sets or replaces a person's password. */
export async function upsertPassword(
  executor: Executor,
  row: Omit<typeof passwords.$inferInsert, 'browserHash'>,
): Promise<void> {
  const { hash, changedAt } = row
  await executor
    .insert(passwords)
    .values(row)
    .onConflictDoUpdate({ target: passwords.userId, set: { hash, changedAt, browserHash: null } })
}

/** Sets the password of a person who has none. Does nothing, with the same statement, if the person does not exist. */
export async function insertPasswordOfUser(
  executor: Executor,
  row: Required<typeof passwords.$inferInsert>,
): Promise<void> {
  const { userId, hash, changedAt, browserHash } = row
  await executor.execute(sql`
    insert into ${passwords} (user_id, hash, changed_at, browser_hash)
    select id, ${hash}, ${changedAt.toISOString()}::timestamptz, ${browserHash}::bytea from ${users} where id = ${userId}
    on conflict do nothing`)
}

/** Replaces the hash of an unchanged password. */
export async function rehashPassword(executor: Executor, userId: string, hash: string): Promise<void> {
  await executor.update(passwords).set({ hash }).where(eq(passwords.userId, userId))
}

export async function deletePassword(executor: Executor, userId: string): Promise<void> {
  await executor.delete(passwords).where(eq(passwords.userId, userId))
}

/** Marks an email address as verified, in the spelling that was verified, and sets the name, unless it already is. */
export async function markEmailVerified(
  executor: Executor,
  { id, email, name }: Pick<UserRow, 'id' | 'email' | 'name'>,
  at: Date,
): Promise<void> {
  await executor
    .update(users)
    .set({ email, name, emailVerifiedAt: at })
    .where(and(eq(users.id, id), isNull(users.emailVerifiedAt)))
}

export async function insertAccountToken(
  executor: Executor,
  row: typeof accountTokens.$inferInsert,
): Promise<void> {
  await executor.insert(accountTokens).values(row)
}

/** Finds the person of a valid link, and the email address that it was sent to. Does not consume the link. */
export async function findAccountToken(
  executor: Executor,
  token: { tokenHash: Buffer; purpose: AccountTokenPurpose; now: Date },
): Promise<{ user: UserRow; email: string | null } | undefined> {
  const [row] = await executor
    .select({ user: users, email: accountTokens.email })
    .from(accountTokens)
    .innerJoin(users, eq(users.id, accountTokens.userId))
    .where(
      and(
        eq(accountTokens.tokenHash, token.tokenHash),
        eq(accountTokens.purpose, token.purpose),
        gt(accountTokens.expiresAt, token.now),
      ),
    )
  return row
}

/** Consumes a link. Of parallel calls, only one deletes the row and succeeds. */
export async function consumeAccountToken(
  executor: Executor,
  token: { tokenHash: Buffer; purpose: AccountTokenPurpose; now: Date },
): Promise<{ userId: string; email: string | null } | undefined> {
  const [row] = await executor
    .delete(accountTokens)
    .where(
      and(
        eq(accountTokens.tokenHash, token.tokenHash),
        eq(accountTokens.purpose, token.purpose),
        gt(accountTokens.expiresAt, token.now),
      ),
    )
    .returning({ userId: accountTokens.userId, email: accountTokens.email })
  return row
}

/** Invalidates a person's links: those of one purpose, or all. */
export async function deleteAccountTokens(
  executor: Executor,
  userId: string,
  purpose?: AccountTokenPurpose,
): Promise<void> {
  await executor
    .delete(accountTokens)
    .where(
      and(
        eq(accountTokens.userId, userId),
        purpose === undefined ? undefined : eq(accountTokens.purpose, purpose),
      ),
    )
}

/** Deletes links that ended before a time. */
export async function deleteExpiredAccountTokens(executor: Executor, endedBefore: Date): Promise<void> {
  await executor.delete(accountTokens).where(lte(accountTokens.expiresAt, endedBefore))
}

/** Finds the person of a provider's account, and whether they have unlinked it since. */
export async function findIdentityUser(
  executor: Executor,
  identity: { issuer: string; subject: string },
): Promise<{ user: UserRow; unlinkedAt: Date | null } | undefined> {
  const [row] = await executor
    .select({ user: users, unlinkedAt: identities.unlinkedAt })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    .where(and(eq(identities.issuer, identity.issuer), eq(identities.subject, identity.subject)))
  return row
}

/** Links a provider's account to a person, unless it is already linked. */
export async function insertIdentityIfNew(
  executor: Executor,
  row: typeof identities.$inferInsert,
): Promise<void> {
  await executor.insert(identities).values(row).onConflictDoNothing()
}

/** Invalidates the links of all people. Returns their number. */
export async function deleteAllAccountTokens(executor: Executor): Promise<number> {
  const { rowCount } = await executor.delete(accountTokens)
  return rowCount ?? 0
}
