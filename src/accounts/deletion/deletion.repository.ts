import { and, eq, gt, isNotNull, lte } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { accountDeletions } from '../../db/schema/account-deletions.ts'
import { users } from '../../db/schema/users.ts'
import type { UserRow } from '../../users/users.repository.ts'

/** Lets API keys of a person export and delete the account until a time. */
export async function allowLeaving(executor: Executor, userId: string, until: Date): Promise<void> {
  await executor
    .insert(accountDeletions)
    .values({ userId, allowedUntil: until })
    .onConflictDoUpdate({ target: accountDeletions.userId, set: { allowedUntil: until } })
}

/** Until when API keys of a person may export and delete the account; undefined if they may not. */
export async function findAllowance(
  executor: Executor,
  userId: string,
  now: Date,
): Promise<Date | undefined> {
  const [row] = await executor
    .select({ allowedUntil: accountDeletions.allowedUntil })
    .from(accountDeletions)
    .where(and(eq(accountDeletions.userId, userId), gt(accountDeletions.allowedUntil, now)))
  return row?.allowedUntil ?? undefined
}

/** Records that a person's account is to be deleted. */
export async function requestDeletion(executor: Executor, userId: string, at: Date): Promise<void> {
  const requested = { allowedUntil: null, requestedAt: at, tokenHash: null }
  await executor
    .insert(accountDeletions)
    .values({ userId, ...requested })
    .onConflictDoUpdate({ target: accountDeletions.userId, set: requested })
}

/** Sets the token that cancels a deletion. Returns the time of the request; undefined if there is none any more. */
export async function setCancelToken(
  executor: Executor,
  userId: string,
  tokenHash: Buffer,
): Promise<Date | undefined> {
  const [row] = await executor
    .update(accountDeletions)
    .set({ tokenHash })
    .where(and(eq(accountDeletions.userId, userId), isNotNull(accountDeletions.requestedAt)))
    .returning({ requestedAt: accountDeletions.requestedAt })
  return row?.requestedAt ?? undefined
}

const isOfToken = (tokenHash: Buffer, requestedSince: Date) =>
  and(eq(accountDeletions.tokenHash, tokenHash), gt(accountDeletions.requestedAt, requestedSince))

/** The person whose deletion a token cancels. */
export async function findByCancelToken(
  executor: Executor,
  tokenHash: Buffer,
  requestedSince: Date,
): Promise<UserRow | undefined> {
  const [row] = await executor
    .select({ user: users })
    .from(accountDeletions)
    .innerJoin(users, eq(users.id, accountDeletions.userId))
    .where(isOfToken(tokenHash, requestedSince))
  return row?.user
}

/** Cancels a deletion. Returns the id of the person; undefined if the token is invalid. */
export async function cancelDeletion(
  executor: Executor,
  tokenHash: Buffer,
  requestedSince: Date,
): Promise<string | undefined> {
  const [row] = await executor
    .delete(accountDeletions)
    .where(isOfToken(tokenHash, requestedSince))
    .returning({ userId: accountDeletions.userId })
  return row?.userId
}

/** The people whose deletion was requested before a time. */
export async function listDueDeletions(executor: Executor, before: Date): Promise<string[]> {
  const rows = await executor
    .select({ userId: accountDeletions.userId })
    .from(accountDeletions)
    .where(lte(accountDeletions.requestedAt, before))
  return rows.map(({ userId }) => userId)
}
