import { and, arrayContains, eq, gt, isNull, notExists } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hasAddress } from '../../db/sql/has-address.ts'
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
  const pending = executor
    .select({ id: invites.id })
    .from(invites)
    .innerJoin(workspaces, isWorkspace(invites.workspaceId))
    .where(and(isOpen, hasAddress(invites.canonicalEmail, email), gt(invites.expiresAt, createdAt)))
  const allowing = executor
    .select({ id: workspaces.id })
    .from(workspaces)
    // No workspace allows an empty domain.
    .where(
      and(
        isNull(workspaces.deletedAt),
        arrayContains(workspaces.allowedDomains, [canonicalDomainOf(email) ?? '']),
      ),
    )
  await executor.delete(users).where(and(eq(users.id, id), notExists(pending), notExists(allowing)))
}
