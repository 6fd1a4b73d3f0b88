import { and, asc, count, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/prepared.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import { errors } from '../../kernel/errors.ts'
import type { Position } from '../../kernel/pagination.ts'
import type { Role } from '../../kernel/roles.ts'

export interface MemberRow {
  userId: string
  name: string
  email: string
  imageKey: string | null
  role: Role
  joinedAt: Date
}

const beginning: Position = ['-infinity', '00000000-0000-0000-0000-000000000000']

const selectMembers = prepared((executor) =>
  executor
    .select({
      userId: memberships.userId,
      name: users.name,
      email: users.email,
      imageKey: users.imageKey,
      role: memberships.role,
      joinedAt: memberships.joinedAt,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, sql.placeholder('workspaceId')),
        sql`(${memberships.joinedAt}, ${memberships.userId}) > (${sql.placeholder('joinedAt')}::timestamptz, ${sql.placeholder('userId')}::uuid)`,
      ),
    )
    .orderBy(asc(memberships.joinedAt), asc(memberships.userId))
    .limit(sql.placeholder('limit'))
    .prepare('memberships_select_of_workspace'),
)

/** Members of a workspace, in the order in which they joined, from after a position on. */
export function listMembers(
  executor: Executor,
  input: { workspaceId: string; after: Position | undefined; limit: number },
): Promise<MemberRow[]> {
  const [joinedAt, userId] = input.after ?? beginning
  return selectMembers(executor).execute({
    workspaceId: input.workspaceId,
    joinedAt,
    userId,
    limit: input.limit,
  })
}

/**
 * Makes the transactions that change who is in a workspace, and as what, take turns: what one of them checks still holds
 * when it writes. The first statement of each of them.
 */
export async function lockMembersOfWorkspace(executor: Executor, workspaceId: string): Promise<void> {
  await executor
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
    .for('no key update')
}

/** What somebody is in a workspace; undefined for somebody who is not in it. */
export async function findMember(
  executor: Executor,
  workspaceId: string,
  userId: string,
): Promise<{ role: Role; name: string } | undefined> {
  const [member] = await executor
    .select({ role: memberships.role, name: users.name })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
  return member
}

/** What the caller is in a workspace by now. Throws `not_a_member`: they may have been removed since the request began. */
export async function requireRoleNow(executor: Executor, workspaceId: string, userId: string): Promise<Role> {
  const member = await findMember(executor, workspaceId, userId)
  if (!member) throw errors.notAMember()
  return member.role
}

export async function countOwners(executor: Executor, workspaceId: string): Promise<number> {
  const [row] = await executor
    .select({ count: count() })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.role, 'owner')))
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

/** Ends a membership, and with it everything that refers to it: places in teams and seeds, and agents' grants. */
export async function deleteMember(executor: Executor, workspaceId: string, userId: string): Promise<void> {
  await executor
    .delete(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
}

/** Adds a member, unless they are one already. Returns whether they were added. */
export async function insertMemberIfNew(
  executor: Executor,
  row: typeof memberships.$inferInsert,
): Promise<boolean> {
  const { rowCount } = await executor.insert(memberships).values(row).onConflictDoNothing()
  return rowCount === 1
}

/** Whom and what a notice to a member is about; undefined when they want none, or are not there any more. */
export async function findNoticeRecipient(
  executor: Executor,
  workspaceId: string,
  userId: string,
): Promise<{ name: string; email: string; workspaceName: string; workspaceSlug: string } | undefined> {
  const [recipient] = await executor
    .select({
      name: users.name,
      email: users.email,
      workspaceName: workspaces.name,
      workspaceSlug: workspaces.slug,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        eq(memberships.userId, userId),
        eq(users.workspaceActivity, true),
      ),
    )
  return recipient
}
