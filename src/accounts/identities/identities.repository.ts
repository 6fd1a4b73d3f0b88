import { and, count, eq, inArray, isNull, not, exists, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { identities } from '../../db/schema/accounts.ts'
import { passkeys } from '../../db/schema/passkeys.ts'
import { users } from '../../db/schema/users.ts'

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

/** How many people have neither an account at one of these issuers nor a passkey, and how many people there are. */
export async function countWithoutIdentity(
  executor: Executor,
  issuers: readonly string[],
): Promise<{ without: number; people: number }> {
  const ofUser = executor
    .select({ userId: identities.userId })
    .from(identities)
    .where(
      and(
        eq(identities.userId, users.id),
        inArray(identities.issuer, [...issuers]),
        isNull(identities.unlinkedAt),
      ),
    )
  const keys = executor.select({ id: passkeys.id }).from(passkeys).where(eq(passkeys.userId, users.id))
  const isWithout = and(not(exists(ofUser)), not(exists(keys)))
  const [counts] = await executor
    .select({ without: sql<number>`count(*) filter (where ${isWithout})`.mapWith(Number), people: count() })
    .from(users)
    .where(eq(users.kind, 'person'))
  return counts ?? { without: 0, people: 0 }
}
