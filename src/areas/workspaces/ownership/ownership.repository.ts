import { and, asc, eq, inArray, isNotNull, isNull, lt, lte } from 'drizzle-orm'
import type { Database, Executor } from '../../../db/client.ts'
import { memberships } from '../../../db/schema/memberships.ts'
import { notifications } from '../../../db/schema/notifications.ts'
import { serviceAccounts } from '../../../db/schema/service-accounts.ts'
import { users } from '../../../db/schema/users.ts'
import { workspaces, workspaceSlugs } from '../../../db/schema/workspaces.ts'
import { prepareErasure } from '../../../db/sql/erasures.ts'
import { markUsedPictureForDeletion } from '../../../pictures/pictures.repository.ts'

/** A workspace that can be deleted, or restored. */
export interface OwnedWorkspace {
  id: string
  name: string
  slug: string
}

const columns = { id: workspaces.id, name: workspaces.name, slug: workspaces.slug }

/** Finds a workspace by its current slug, deleted or not, and locks it until the transaction ends. */
export async function lockBySlug(
  executor: Executor,
  slug: string,
  { isDeleted }: { isDeleted: boolean },
): Promise<OwnedWorkspace | undefined> {
  const [workspace] = await executor
    .select(columns)
    .from(workspaceSlugs)
    .innerJoin(workspaces, eq(workspaces.id, workspaceSlugs.workspaceId))
    .where(
      and(
        eq(workspaceSlugs.slug, slug),
        eq(workspaces.slug, slug),
        isDeleted ? isNotNull(workspaces.deletedAt) : isNull(workspaces.deletedAt),
      ),
    )
    .for('no key update', { of: workspaces })
  return workspace
}

/**
 * Marks a workspace as deleted, with its notifications as read, and keeps its slugs until `keptUntil`. Returns the owners,
 * the first of whom joined first.
 */
export async function markDeleted(
  executor: Executor,
  workspaceId: string,
  { now, keptUntil }: { now: Date; keptUntil: Date },
): Promise<string[]> {
  await executor.update(workspaces).set({ deletedAt: now }).where(eq(workspaces.id, workspaceId))
  await executor.update(workspaceSlugs).set({ keptUntil }).where(eq(workspaceSlugs.workspaceId, workspaceId))
  await executor
    .update(notifications)
    .set({ readAt: now })
    .where(and(eq(notifications.workspaceId, workspaceId), isNull(notifications.readAt)))
  const owners = await executor
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.role, 'owner')))
    .orderBy(asc(memberships.joinedAt), asc(memberships.userId))
  return owners.map(({ userId }) => userId)
}

/** Makes a deleted workspace exist again, at its slug. */
export async function unmarkDeleted(executor: Executor, { id, slug }: OwnedWorkspace): Promise<void> {
  await executor.update(workspaces).set({ deletedAt: null }).where(eq(workspaces.id, id))
  await executor.update(workspaceSlugs).set({ keptUntil: null }).where(eq(workspaceSlugs.slug, slug))
}

/** Who deleted workspaces belonged to, for the mail about it; undefined when they have left or it was restored. */
export async function findFormerOwner(
  executor: Executor,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<{ name: string; email: string; workspaceName: string; slug: string } | undefined> {
  const [owner] = await executor
    .select({ name: users.name, email: users.email, workspaceName: workspaces.name, slug: workspaces.slug })
    .from(workspaces)
    .innerJoin(memberships, eq(memberships.workspaceId, workspaces.id))
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(workspaces.id, workspaceId), eq(users.id, userId), isNotNull(workspaces.deletedAt)))
  return owner
}

/**
 * Erases a workspace with everything in it, its service accounts included. Its slugs stay reserved until `keptUntil`; without, they are free at once, since
 * a slug may be the name of a person who is erased.
 */
export async function eraseWorkspace(
  executor: Executor,
  { id, iconKey }: { id: string; iconKey: string | null },
  keptUntil?: Date,
): Promise<void> {
  if (keptUntil) {
    await executor
      .update(workspaceSlugs)
      .set({ workspaceId: null, keptUntil })
      .where(eq(workspaceSlugs.workspaceId, id))
  }
  if (iconKey !== null) await markUsedPictureForDeletion(executor, iconKey)
  const services = await executor
    .select({ userId: serviceAccounts.userId })
    .from(serviceAccounts)
    .where(eq(serviceAccounts.workspaceId, id))
  await executor.delete(workspaces).where(eq(workspaces.id, id))
  // After what they wrote, which refers to them.
  const userIds = services.map(({ userId }) => userId)
  if (userIds.length > 0) await executor.delete(users).where(inArray(users.id, userIds))
}

/**
 * Erases the workspaces that were deleted before a time, each in a transaction of its own, and forgets the slugs of erased
 * ones that are no longer kept.
 */
export async function eraseDeletedWorkspaces(
  db: Database,
  { before, now, slugKeptMs }: { before: Date; now: Date; slugKeptMs: number },
): Promise<void> {
  const due = await db.select({ id: workspaces.id }).from(workspaces).where(lt(workspaces.deletedAt, before))
  for (const { id } of due) {
    // eslint-disable-next-line no-restricted-syntax -- a clean-up has no principal
    await db.transaction(async (tx) => {
      await prepareErasure(tx)
      const [workspace] = await tx
        .select({ id: workspaces.id, iconKey: workspaces.iconKey, deletedAt: workspaces.deletedAt })
        .from(workspaces)
        .where(and(eq(workspaces.id, id), lt(workspaces.deletedAt, before)))
        .for('update')
      if (!workspace?.deletedAt) return
      await eraseWorkspace(tx, workspace, new Date(workspace.deletedAt.getTime() + slugKeptMs))
    })
  }
  await db
    .delete(workspaceSlugs)
    .where(and(isNull(workspaceSlugs.workspaceId), lte(workspaceSlugs.keptUntil, now)))
}
