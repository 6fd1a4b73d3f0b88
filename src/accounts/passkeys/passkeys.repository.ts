import { and, desc, eq, lte } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isUniqueViolation } from '../../db/errors.ts'
import { passkeys, usedChallenges } from '../../db/schema/passkeys.ts'
import { errors } from '../../kernel/errors.ts'

export type PasskeyRow = typeof passkeys.$inferSelect

/** A person's passkeys, newest first. */
export function listPasskeys(executor: Executor, userId: string): Promise<PasskeyRow[]> {
  return executor
    .select()
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .orderBy(desc(passkeys.createdAt), desc(passkeys.id))
}

export async function findPasskey(executor: Executor, credentialId: string): Promise<PasskeyRow | undefined> {
  const [row] = await executor.select().from(passkeys).where(eq(passkeys.credentialId, credentialId))
  return row
}

/** Throws `passkey_refused` for a passkey that is registered already. */
export async function insertPasskey(executor: Executor, row: typeof passkeys.$inferInsert): Promise<void> {
  try {
    await executor.insert(passkeys).values(row)
  } catch (error) {
    if (isUniqueViolation(error, 'passkeys_credential_id_key')) throw errors.passkeyRefused({ cause: error })
    throw error
  }
}

/** Records a use. Returns false if the passkey was removed, or used by another request meanwhile. */
export async function recordPasskeyUse(
  executor: Executor,
  { id, signCount }: Pick<PasskeyRow, 'id' | 'signCount'>,
  use: { signCount: number; lastUsedAt: Date },
): Promise<boolean> {
  const { rowCount } = await executor
    .update(passkeys)
    .set(use)
    .where(and(eq(passkeys.id, id), eq(passkeys.signCount, signCount)))
  return rowCount === 1
}

/** Renames a passkey of a person. Returns whether it existed. */
export async function renamePasskey(
  executor: Executor,
  passkey: { id: string; userId: string },
  name: string,
): Promise<boolean> {
  const { rowCount } = await executor
    .update(passkeys)
    .set({ name })
    .where(and(eq(passkeys.id, passkey.id), eq(passkeys.userId, passkey.userId)))
  return rowCount === 1
}

/** Deletes a passkey of a person. Returns its name. */
export async function deletePasskey(
  executor: Executor,
  passkey: { id: string; userId: string },
): Promise<string | undefined> {
  const [row] = await executor
    .delete(passkeys)
    .where(and(eq(passkeys.id, passkey.id), eq(passkeys.userId, passkey.userId)))
    .returning({ name: passkeys.name })
  return row?.name
}

/** Uses a challenge. Of parallel calls, only one returns true. */
export async function useChallenge(
  executor: Executor,
  row: typeof usedChallenges.$inferInsert,
): Promise<boolean> {
  const { rowCount } = await executor.insert(usedChallenges).values(row).onConflictDoNothing()
  return rowCount === 1
}

export async function deleteExpiredChallenges(executor: Executor, now: Date): Promise<void> {
  await executor.delete(usedChallenges).where(lte(usedChallenges.expiresAt, now))
}
