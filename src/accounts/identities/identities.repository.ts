import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { identities } from '../../db/schema/accounts.ts'

export type IdentityRow = typeof identities.$inferSelect

/** The accounts at providers that a person has linked. */
export function listIdentities(executor: Executor, userId: string): Promise<IdentityRow[]> {
  return executor
    .select()
    .from(identities)
    .where(and(eq(identities.userId, userId), isNull(identities.unlinkedAt)))
}

/** Links an account to a person. Returns false if it is linked to another person. */
export async function linkIdentity(
  executor: Executor,
  row: Pick<IdentityRow, 'issuer' | 'subject' | 'userId' | 'createdAt'>,
): Promise<boolean> {
  const { userId, createdAt } = row
  const { rowCount } = await executor
    .insert(identities)
    .values(row)
    .onConflictDoUpdate({
      target: [identities.issuer, identities.subject],
      set: { userId, createdAt, unlinkedAt: null },
      setWhere: sql`${identities.userId} = ${userId} or ${identities.unlinkedAt} is not null`,
    })
  return rowCount === 1
}

/** Unlinks a person's accounts at an issuer. */
export async function unlinkIdentities(
  executor: Executor,
  { userId, issuer, at }: { userId: string; issuer: string; at: Date },
): Promise<void> {
  await executor
    .update(identities)
    .set({ unlinkedAt: at })
    .where(and(eq(identities.userId, userId), eq(identities.issuer, issuer)))
}
