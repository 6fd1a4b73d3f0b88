import { and, eq, gt, gte, lte, ne } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isUniqueViolation } from '../../db/errors.ts'
import { isReservedAddress, reservedSince } from '../../users/reserved-addresses.repository.ts'
import { emailChanges, formerEmails } from '../../db/schema/accounts.ts'
import { users } from '../../db/schema/users.ts'
import { canonicalizeEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import type { UserRow } from '../../users/users.repository.ts'

export type EmailChangeRow = typeof emailChanges.$inferSelect

/** Stores a change that waits for its link. Replaces an earlier one of the person. */
export async function upsertEmailChange(
  executor: Executor,
  row: Pick<EmailChangeRow, 'id' | 'userId' | 'email' | 'expiresAt'>,
): Promise<void> {
  const { id, email, expiresAt } = row
  await executor
    .insert(emailChanges)
    .values(row)
    .onConflictDoUpdate({ target: emailChanges.userId, set: { id, email, expiresAt, tokenHash: null } })
}

export async function findEmailChange(
  executor: Executor,
  id: string,
  now: Date,
): Promise<EmailChangeRow | undefined> {
  const [change] = await executor
    .select()
    .from(emailChanges)
    .where(and(eq(emailChanges.id, id), gt(emailChanges.expiresAt, now)))
  return change
}

export async function findEmailChangeOfUser(
  executor: Executor,
  userId: string,
  now: Date,
): Promise<EmailChangeRow | undefined> {
  const [change] = await executor
    .select()
    .from(emailChanges)
    .where(and(eq(emailChanges.userId, userId), gt(emailChanges.expiresAt, now)))
  return change
}

/** Sets the token of the link of a change. Returns false if the change was replaced or cancelled. */
export async function setEmailChangeToken(
  executor: Executor,
  id: string,
  tokenHash: Buffer,
): Promise<boolean> {
  const { rowCount } = await executor.update(emailChanges).set({ tokenHash }).where(eq(emailChanges.id, id))
  return rowCount === 1
}

/** Deletes the change of a link. Returns the new address; undefined if it is not the person's, or has ended. */
export async function consumeEmailChange(
  executor: Executor,
  { userId, tokenHash, now }: { userId: string; tokenHash: Buffer; now: Date },
): Promise<string | undefined> {
  const [change] = await executor
    .delete(emailChanges)
    .where(
      and(
        eq(emailChanges.userId, userId),
        eq(emailChanges.tokenHash, tokenHash),
        gt(emailChanges.expiresAt, now),
      ),
    )
    .returning({ email: emailChanges.email })
  return change?.email
}

export async function deleteEmailChange(executor: Executor, userId: string): Promise<void> {
  await executor.delete(emailChanges).where(eq(emailChanges.userId, userId))
}

export async function deleteExpiredEmailChanges(executor: Executor, now: Date): Promise<void> {
  await executor.delete(emailChanges).where(lte(emailChanges.expiresAt, now))
}

/**
 * Sets the verified address of a person, and keeps the former one, with `isReserved` for them alone. Throws `link_invalid`
 * if somebody else has the address, or it is reserved for somebody else.
 */
export async function changeEmail(
  executor: Executor,
  change: { userId: string; from: string; to: string; at: Date; isReserved: boolean },
): Promise<void> {
  const { userId, from, to, at, isReserved } = change
  const canonicalEmail = isReserved ? (canonicalizeEmail(from) ?? null) : null
  const former = { changedAt: at, canonicalEmail, tokenHash: null }
  await executor
    .insert(formerEmails)
    .values({ userId, email: from, ...former })
    .onConflictDoUpdate({ target: [formerEmails.userId, formerEmails.email], set: former })
  const address = { email: to, canonicalEmail: canonicalizeEmail(to), emailVerifiedAt: at }
  try {
    await executor.update(users).set(address).where(eq(users.id, userId))
  } catch (error) {
    if (isUniqueViolation(error, 'users_canonical_email_key')) throw errors.linkInvalid({ cause: error })
    throw error
  }
  const others = await executor
    .select({ userId: formerEmails.userId })
    .from(formerEmails)
    .where(and(isReservedAddress(to, at), ne(formerEmails.userId, userId)))
  if (others.length > 0) throw errors.linkInvalid()
}

/** Sets the token that takes a former address back. Returns false if the address is not reserved. */
export async function setTakeBackToken(
  executor: Executor,
  { userId, email, tokenHash, now }: { userId: string; email: string; tokenHash: Buffer; now: Date },
): Promise<boolean> {
  const { rowCount } = await executor
    .update(formerEmails)
    .set({ tokenHash })
    .where(and(eq(formerEmails.userId, userId), eq(formerEmails.email, email), isReservedAddress(email, now)))
  return rowCount === 1
}

/** The former address that a token takes back, and its person. */
export async function findTakeBack(
  executor: Executor,
  { tokenHash, now }: { tokenHash: Buffer; now: Date },
): Promise<{ user: UserRow; email: string; changedAt: Date } | undefined> {
  const [row] = await executor
    .select({ user: users, email: formerEmails.email, changedAt: formerEmails.changedAt })
    .from(formerEmails)
    .innerJoin(users, eq(users.id, formerEmails.userId))
    .where(and(eq(formerEmails.tokenHash, tokenHash), gt(formerEmails.changedAt, reservedSince(now))))
  return row
}

/** Ends the reservations of a person's addresses from a change on, and invalidates their links. */
export async function endReservations(executor: Executor, userId: string, from: Date): Promise<void> {
  await executor
    .update(formerEmails)
    .set({ canonicalEmail: null, tokenHash: null })
    .where(and(eq(formerEmails.userId, userId), gte(formerEmails.changedAt, from)))
}

/** The addresses that a person had before. */
export async function listFormerEmails(executor: Executor, userId: string): Promise<string[]> {
  const rows = await executor
    .select({ email: formerEmails.email })
    .from(formerEmails)
    .where(eq(formerEmails.userId, userId))
  return rows.map(({ email }) => email)
}
