import { and, count, eq, exists, gt, isNotNull, isNull, lt, lte, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { authenticatorApps, pendingSignIns, recoveryCodes } from '../../db/schema/second-factors.ts'
import { passkeys } from '../../db/schema/passkeys.ts'
import { users } from '../../db/schema/users.ts'

export type AuthenticatorAppRow = typeof authenticatorApps.$inferSelect

export async function findAuthenticatorApp(
  executor: Executor,
  userId: string,
): Promise<AuthenticatorAppRow | undefined> {
  const [app] = await executor.select().from(authenticatorApps).where(eq(authenticatorApps.userId, userId))
  return app
}

/** Stores the secret of an app that is being set up. Replaces an earlier one that was not confirmed. */
export async function upsertUnconfirmedApp(
  executor: Executor,
  row: { userId: string; sealedSecret: Buffer; createdAt: Date },
): Promise<void> {
  const { sealedSecret, createdAt } = row
  await executor
    .insert(authenticatorApps)
    .values(row)
    .onConflictDoUpdate({
      target: authenticatorApps.userId,
      set: { sealedSecret, createdAt },
      setWhere: isNull(authenticatorApps.confirmedAt),
    })
}

export async function confirmApp(
  executor: Executor,
  { userId, at }: { userId: string; at: Date },
): Promise<void> {
  await executor
    .update(authenticatorApps)
    .set({ confirmedAt: at })
    .where(eq(authenticatorApps.userId, userId))
}

/** Records the time step of a code. Returns false if this or a later one was used before. */
export async function useStep(executor: Executor, userId: string, step: number): Promise<boolean> {
  const { rowCount } = await executor
    .update(authenticatorApps)
    .set({ lastStep: step })
    .where(and(eq(authenticatorApps.userId, userId), lt(authenticatorApps.lastStep, step)))
  return rowCount === 1
}

/** Deletes a person's authenticator app and recovery codes. Returns whether the app had been confirmed. */
export async function deleteSecondFactor(executor: Executor, userId: string): Promise<boolean> {
  await executor.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  await executor.delete(pendingSignIns).where(eq(pendingSignIns.userId, userId))
  const [app] = await executor
    .delete(authenticatorApps)
    .where(eq(authenticatorApps.userId, userId))
    .returning({ confirmedAt: authenticatorApps.confirmedAt })
  return app !== undefined && app.confirmedAt !== null
}

/** Whether a sign-in of the person needs a second step. */
export async function hasSecondFactor(executor: Executor, userId: string): Promise<boolean> {
  const rows = await executor
    .select({ userId: authenticatorApps.userId })
    .from(authenticatorApps)
    .where(and(eq(authenticatorApps.userId, userId), isNotNull(authenticatorApps.confirmedAt)))
  return rows.length > 0
}

/** Replaces the recovery codes of a person. */
export async function replaceRecoveryCodes(
  executor: Executor,
  userId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await executor.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  await executor.insert(recoveryCodes).values(hashes.map((codeHash) => ({ userId, codeHash })))
}

/** Uses a recovery code. Of parallel calls, only one deletes the row and returns true. */
export async function useRecoveryCode(
  executor: Executor,
  userId: string,
  codeHash: Buffer,
): Promise<boolean> {
  const { rowCount } = await executor
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, codeHash)))
  return rowCount === 1
}

export async function countRecoveryCodes(executor: Executor, userId: string): Promise<number> {
  const [row] = await executor
    .select({ count: count() })
    .from(recoveryCodes)
    .where(eq(recoveryCodes.userId, userId))
  return row?.count ?? 0
}

export async function insertPendingSignIn(
  executor: Executor,
  row: typeof pendingSignIns.$inferInsert,
): Promise<void> {
  await executor.insert(pendingSignIns).values(row)
}

/** The cookies that identify a sign-in that waits for its second step, as SHA-256. */
export interface PendingSignInKey {
  tokenHash: Buffer
  browserHash: Buffer
}

const isPending = ({ tokenHash, browserHash }: PendingSignInKey, now: Date) =>
  and(
    eq(pendingSignIns.tokenHash, tokenHash),
    eq(pendingSignIns.browserHash, browserHash),
    gt(pendingSignIns.expiresAt, now),
  )

/** The person of a pending sign-in, and whether they have a passkey. */
export async function findPendingSignIn(
  executor: Executor,
  key: PendingSignInKey,
  now: Date,
): Promise<{ userId: string; email: string; hasPasskey: boolean } | undefined> {
  const ownPasskeys = executor.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.userId, users.id))
  const [row] = await executor
    .select({
      userId: pendingSignIns.userId,
      email: users.email,
      hasPasskey: exists(ownPasskeys).mapWith(Boolean),
    })
    .from(pendingSignIns)
    .innerJoin(users, eq(users.id, pendingSignIns.userId))
    .where(isPending(key, now))
  return row
}

/** Counts an attempt at the second step before it is checked, so that parallel ones cannot exceed the maximum. */
export async function takeAttempt(
  executor: Executor,
  key: PendingSignInKey,
  { now, attemptsMax }: { now: Date; attemptsMax: number },
): Promise<{ userId: string; attempts: number } | undefined> {
  const [row] = await executor
    .update(pendingSignIns)
    .set({ attempts: sql`${pendingSignIns.attempts} + 1` })
    .where(and(isPending(key, now), lt(pendingSignIns.attempts, attemptsMax)))
    .returning({ userId: pendingSignIns.userId, attempts: pendingSignIns.attempts })
  return row
}

/** Ends a pending sign-in. Of parallel calls, only one returns true. */
export async function deletePendingSignIn(executor: Executor, tokenHash: Buffer): Promise<boolean> {
  const { rowCount } = await executor.delete(pendingSignIns).where(eq(pendingSignIns.tokenHash, tokenHash))
  return rowCount === 1
}

export async function deletePendingSignInsOfUser(executor: Executor, userId: string): Promise<void> {
  await executor.delete(pendingSignIns).where(eq(pendingSignIns.userId, userId))
}

export async function deleteExpiredPendingSignIns(executor: Executor, now: Date): Promise<void> {
  await executor.delete(pendingSignIns).where(lte(pendingSignIns.expiresAt, now))
}

/** Ends the sign-ins of all people that wait for their second step. */
export async function deleteAllPendingSignIns(executor: Executor): Promise<void> {
  await executor.delete(pendingSignIns)
}
