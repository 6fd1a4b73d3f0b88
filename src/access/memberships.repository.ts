import { and, count, eq, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { isStaying } from '../db/schema/leavings.ts'
import { memberships } from '../db/schema/memberships.ts'
import { users } from '../db/schema/users.ts'
import { workspaces } from '../db/schema/workspaces.ts'
import { placeholdersOf, prepared } from '../db/sql/prepared.ts'
import { errors } from '../kernel/errors.ts'
import type { Role } from '../domain/roles.ts'

const lockWorkspaceOfMembers = prepared((executor) =>
  executor
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.id, sql.placeholder('workspaceId')))
    .for('no key update')
    .prepare('workspaces_lock_members'),
)

/**
 * Serializes the transactions that change members, roles and invites of a workspace. It is the first statement of each, so
 * that what they check cannot change before they write.
 */
export async function lockMembersOfWorkspace(executor: Executor, workspaceId: string): Promise<void> {
  await lockWorkspaceOfMembers(executor).execute({ workspaceId })
}

const selectMember = prepared((executor) =>
  executor
    .select({ role: memberships.role, name: users.name })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, sql.placeholder('workspaceId')),
        eq(memberships.userId, sql.placeholder('userId')),
      ),
    )
    .prepare('memberships_select'),
)

/** The role and name of a member; undefined for a person who is not one. */
export async function findMember(
  executor: Executor,
  workspaceId: string,
  userId: string,
): Promise<{ role: Role; name: string } | undefined> {
  const [member] = await selectMember(executor).execute({ workspaceId, userId })
  return member
}

/** Reads the caller's role again. Throws `not_a_member` when they were removed after the request began. */
export async function requireRoleNow(executor: Executor, workspaceId: string, userId: string): Promise<Role> {
  const member = await findMember(executor, workspaceId, userId)
  if (!member) throw errors.notAMember()
  return member.role
}

const insertNewMember = prepared((executor) =>
  executor
    .insert(memberships)
    .values(placeholdersOf(memberships))
    .onConflictDoNothing()
    .prepare('memberships_insert_if_new'),
)

/** Adds a member. Returns false when the person already is one. */
export async function insertMemberIfNew(
  executor: Executor,
  row: typeof memberships.$inferInsert,
): Promise<boolean> {
  const { rowCount } = await insertNewMember(executor).execute(row)
  return rowCount === 1
}

/** The number of owners of a workspace, without those who are about to be deleted. */
export async function countOwners(executor: Executor, workspaceId: string): Promise<number> {
  const [row] = await executor
    .select({ count: count() })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        eq(memberships.role, 'owner'),
        isStaying(memberships.userId),
      ),
    )
  return row?.count ?? 0
}

export async function updateMemberRole(
  executor: Executor,
  member: { workspaceId: string; userId: string; role: Role },
): Promise<void> {
  await executor
    .update(memberships)
    .set({ role: member.role })
    .where(and(eq(memberships.workspaceId, member.workspaceId), eq(memberships.userId, member.userId)))
}
