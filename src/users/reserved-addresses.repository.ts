import { and, eq, exists, gt, type SQL } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { hasAddress } from '../db/sql/has-address.ts'
import { formerEmails } from '../db/schema/accounts.ts'
import { users } from '../db/schema/users.ts'

/** How long an address is reserved for the person who had it, after a change of their address. */
export const reservedMs = 7 * 24 * 60 * 60 * 1000

/** The addresses that were changed since then are reserved. */
export const reservedSince = (now: Date) => new Date(now.getTime() - reservedMs)

/** Whether a row of former addresses reserves an address. */
export function isReservedAddress(email: string, now: Date): SQL | undefined {
  return and(hasAddress(formerEmails.canonicalEmail, email), gt(formerEmails.changedAt, reservedSince(now)))
}

/**
 * Deletes a person who has just been inserted, if their address is reserved for another. Not a condition of the insert: a
 * change that is committed meanwhile would not be seen. Returns whether they were deleted.
 */
export async function deleteIfReserved(
  executor: Executor,
  { id, email, createdAt }: { id: string; email: string; createdAt: Date },
): Promise<boolean> {
  const reservations = executor
    .select({ userId: formerEmails.userId })
    .from(formerEmails)
    .where(isReservedAddress(email, createdAt))
  const { rowCount } = await executor
    .delete(users)
    .where(and(eq(users.id, id), hasAddress(users.canonicalEmail, email), exists(reservations)))
  return rowCount === 1
}
