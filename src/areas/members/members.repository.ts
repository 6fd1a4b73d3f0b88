import { and, asc, eq } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { getsNotices } from '../../db/sql/gets-notices.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, pictureUrl, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { Member } from './members.schemas.ts'

const selectMembers = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(
        itemColumns<Member>({
          userId: memberships.userId,
          name: users.name,
          email: users.email,
          image: pictureUrl(users.imageKey),
          role: memberships.role,
          joinedAt: memberships.joinedAt,
        }),
      )
      .from(memberships)
      .innerJoin(users, eq(users.id, memberships.userId))
      .where(
        and(
          eq(memberships.workspaceId, hiddenParameter('workspaceId', 'uuid')),
          isAfter(memberships.joinedAt, memberships.userId),
        ),
      )
      .orderBy(asc(memberships.joinedAt), asc(memberships.userId))
      .limit(pageLimit),
  ).prepare('memberships_select_of_workspace'),
)

/** Members of a workspace, in the order in which they joined. */
export function listMembers(
  executor: Executor,
  input: { workspaceId: string; pictureUrlPrefix: string } & PageRange,
): Promise<JsonRows> {
  return readOne(selectMembers(executor).execute({ ...input }))
}

/** Deletes a membership and, by cascade, its places in teams and seeds and its agent grants. */
export async function deleteMember(executor: Executor, workspaceId: string, userId: string): Promise<void> {
  await executor
    .delete(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
}

/** The recipient of a notice to a member; undefined when they get no notices or have left. */
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
    .innerJoin(workspaces, isWorkspace(memberships.workspaceId))
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId), getsNotices))
  return recipient
}
