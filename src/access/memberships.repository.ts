import { and, eq, ne, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { isStaying } from '../db/schema/account-deletions.ts'
import { memberships } from '../db/schema/memberships.ts'
import { isActivePerson, users } from '../db/schema/users.ts'
import { workspaces } from '../db/schema/workspaces.ts'
import { placeholdersOf, prepared } from '../db/sql/prepared.ts'
import { errors } from '../kernel/errors.ts'
import type { Role } from '../domain/roles.ts'
import type { UserKind } from '../domain/service-accounts.ts'

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
    .select({
      role: memberships.role,
      name: users.name,
      kind: users.kind,
      isSuspended: sql<boolean>`${users.suspendedAt} is not null`.as('is_suspended'),
    })
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

/** The role, the name and the kind of a member, and whether they are suspended; undefined for a person who is not one. */
export async function findMember(
  executor: Executor,
  workspaceId: string,
  userId: string,
): Promise<{ role: Role; name: string; kind: UserKind; isSuspended: boolean } | undefined> {
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
    .values(placeholdersOf(memberships, 'lastActivityAt'))
    .onConflictDoNothing()
    .prepare('memberships_insert_if_new'),
)

/** Adds a member. Returns false when the person already is one. */
export async function insertMemberIfNew(
  executor: Executor,
  row: Omit<typeof memberships.$inferInsert, 'lastActivityAt'>,
): Promise<boolean> {
  const { rowCount } = await insertNewMember(executor).execute(row)
  return rowCount === 1
}

/** Keeps the latest activity of members. */
export async function recordActivity(
  executor: Executor,
  members: readonly { workspaceId: string; userId: string; at: Date }[],
): Promise<void> {
  const [workspaceIds, userIds, times] = [
    members.map(({ workspaceId }) => workspaceId),
    members.map(({ userId }) => userId),
    members.map(({ at }) => at.toISOString()),
  ]
  await executor.execute(sql`
    update ${memberships} set last_activity_at = active.at
    from unnest(
      ${sql.param(workspaceIds)}::uuid[], ${sql.param(userIds)}::uuid[], ${sql.param(times)}::timestamptz[]
    ) as active (workspace_id, user_id, at)
    where ${memberships.workspaceId} = active.workspace_id and ${memberships.userId} = active.user_id
      and (${memberships.lastActivityAt} is null or ${memberships.lastActivityAt} < active.at)`)
}

/** Whether a workspace has an owner, besides `exceptUserId`, who is neither about to be deleted nor suspended. */
export async function hasOwner(
  executor: Executor,
  workspaceId: string,
  exceptUserId?: string,
): Promise<boolean> {
  const rows = await executor
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        eq(memberships.role, 'owner'),
        exceptUserId === undefined ? undefined : ne(memberships.userId, exceptUserId),
        isStaying(memberships.userId),
        isActivePerson(memberships.userId),
      ),
    )
    .limit(1)
  return rows.length > 0
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
