import { and, eq, gt, lte } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { isUniqueViolation } from '../db/errors.ts'
import { emailChanges, formerEmails } from '../db/schema/accounts.ts'
import { users } from '../db/schema/users.ts'
import { canonicalizeEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'

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

/** Sets the verified address of a person, and keeps the former one. Throws `link_invalid` if somebody else has it. */
export async function changeEmail(
  executor: Executor,
  { userId, from, to, at }: { userId: string; from: string; to: string; at: Date },
): Promise<void> {
  const former = { userId, email: from, changedAt: at }
  await executor.insert(formerEmails).values(former).onConflictDoNothing()
  const address = { email: to, canonicalEmail: canonicalizeEmail(to), emailVerifiedAt: at }
  try {
    await executor.update(users).set(address).where(eq(users.id, userId))
  } catch (error) {
    if (isUniqueViolation(error, 'users_canonical_email_key')) throw errors.linkInvalid({ cause: error })
    throw error
  }
}

/** The addresses that a person had before. */
export async function listFormerEmails(executor: Executor, userId: string): Promise<string[]> {
  const rows = await executor
    .select({ email: formerEmails.email })
    .from(formerEmails)
    .where(eq(formerEmails.userId, userId))
  return rows.map(({ email }) => email)
}
