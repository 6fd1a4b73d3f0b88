import { and, arrayContains, eq, exists, gt, isNull, not, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hasAddress } from '../../db/sql/has-address.ts'
import { passwords } from '../../db/schema/accounts.ts'
import { invites, isOpen } from '../../db/schema/invites.ts'
import { users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { canonicalDomainOf } from '../../kernel/email.ts'

/**
 * Deletes a person who has just been inserted, unless somebody has invited their address, or a workspace allows its
 * domain. Not a condition of the insert, so that the statements are the same for all addresses.
 */
export async function deleteUnlessExpected(
  executor: Executor,
  { id, email, createdAt }: { id: string; email: string; createdAt: Date },
): Promise<void> {
  await executor.delete(users).where(and(eq(users.id, id), not(isExpected(executor, email, createdAt))))
}

/** Whether a person signed up by the form, and somebody has invited their address or a workspace allows its domain. */
export async function findAdmission(
  executor: Executor,
  { id, email }: { id: string; email: string },
  now: Date,
): Promise<{ isOfSignUp: boolean; isExpected: boolean }> {
  const ofSignUp = sql<boolean>`${exists(executor.select({ id: passwords.userId }).from(passwords).where(eq(passwords.userId, users.id)))}`
  const [row] = await executor
    .select({
      isOfSignUp: ofSignUp.mapWith(Boolean),
      isExpected: isExpected(executor, email, now).mapWith(Boolean),
    })
    .from(users)
    .where(eq(users.id, id))
  return row ?? { isOfSignUp: false, isExpected: false }
}

function isExpected(executor: Executor, email: string, now: Date) {
  const pending = executor
    .select({ id: invites.id })
    .from(invites)
    .innerJoin(workspaces, isWorkspace(invites.workspaceId))
    .where(and(isOpen, hasAddress(invites.canonicalEmail, email), gt(invites.expiresAt, now)))
  const allowing = executor
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(
      and(
        isNull(workspaces.deletedAt),
        // No workspace allows an empty domain.
        arrayContains(workspaces.allowedDomains, [canonicalDomainOf(email) ?? '']),
      ),
    )
  return sql<boolean>`(${exists(pending)} or ${exists(allowing)})`
}
