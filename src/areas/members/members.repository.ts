import { and, asc, eq, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { getsMailsAbout } from '../../db/sql/gets-notices.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, pictureUrl, readItem, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { Member } from './members.schemas.ts'

const memberColumns = {
  userId: memberships.userId,
  name: users.name,
  email: users.email,
  image: pictureUrl(users.imageKey),
  role: memberships.role,
  kind: users.kind,
  suspended: sql`(${users.suspendedAt} is not null)`,
  joinedAt: memberships.joinedAt,
  lastActivityAt: memberships.lastActivityAt,
}

/** The members for whom a condition holds. */
function selectShown(executor: Executor, filter: SQL | undefined) {
  return executor
    .select(itemColumns<Member>(memberColumns))
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(filter)
}

const selectMembers = prepared((executor) =>
  selectJsonRows(
    executor,
    selectShown(
      executor,
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

const selectMember = prepared((executor) =>
  selectJsonRows(
    executor,
    selectShown(
      executor,
      and(
        eq(memberships.workspaceId, sql.placeholder('workspaceId')),
        eq(memberships.userId, sql.placeholder('userId')),
      ),
    ),
  ).prepare('memberships_select_shown'),
)

/** A member of a workspace, as `listMembers` has them. */
export async function findShownMember(
  executor: Executor,
  input: { workspaceId: string; userId: string; pictureUrlPrefix: string },
): Promise<Member | undefined> {
  return (await readItem(selectMember(executor).execute(input))) as Member | undefined
}

/** Deletes a membership and, by cascade, its places in teams and seeds and its agent grants. */
export async function deleteMember(executor: Executor, workspaceId: string, userId: string): Promise<void> {
  await executor
    .delete(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
}

/** The recipient of a mail to a member about something; undefined when they get no such mails or have left. */
export async function findNoticeRecipient(
  executor: Executor,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  about: 'roleChanges' | 'acceptedInvites',
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
    .where(
      and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId), getsMailsAbout(about)),
    )
  return recipient
}
