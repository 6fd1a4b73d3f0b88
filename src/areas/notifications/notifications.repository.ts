import { and, desc, eq, isNotNull, isNull, lt, sql, type Column, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { comments } from '../../db/schema/comments.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { notifications } from '../../db/schema/notifications.ts'
import { evidence, seeds } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, pictureUrl, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { mentionsOfComment } from '../../db/sql/mentions-of-comment.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { unreadCountMax, type NotificationKind, type StoredNotification } from '../../domain/notifications.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'

/** Whose notifications, of which workspaces (null: of all), and of which kinds. */
export interface InboxOfCaller {
  userId: string
  workspaceIds: readonly string[] | null
  /** Only kinds that this version has words for. A later one may have written others. */
  kinds: readonly NotificationKind[]
}

/** A notification as it is listed, without the text and the path, which are made of it. */
export interface NotificationRow extends StoredNotification {
  id: string
  createdAt: string
  readAt: string | null
}

/** A notification with the URL of the picture of who did it, and the beginning of what was written. */
export interface ShownNotificationRow extends NotificationRow, WrittenRow {
  actorPicture: string | null
}

/** What was written that a notification is about. */
export interface WrittenRow {
  /** The comment as it is stored, and whom it mentions. */
  body: string | null
  mentions: { userId: string; name: string }[]
  /** Of evidence that still counts. */
  summary: string | null
}

/** The columns that the text and the path of a notification are made of. */
export const storedColumns = {
  kind: notifications.kind,
  data: notifications.data,
  workspaceSlug: workspaces.slug,
  workspaceName: workspaces.name,
  seedId: notifications.seedId,
  seedTitle: seeds.title,
  mergedTitle: subquery(sql<string | null>`(
    select merged.title from ${seeds} as merged where merged.id = (${notifications.data} ->> 'fromSeedId')::uuid
  )`),
  commentId: notifications.commentId,
  actorUserId: notifications.actorUserId,
  actorName: notifications.actorName,
  agentName: notifications.agentName,
}

const listedColumns = {
  id: notifications.id,
  ...storedColumns,
  createdAt: notifications.createdAt,
  readAt: notifications.readAt,
}

/** Whether a notification is of the inbox of a caller, by the values `userId`, `workspaceIds` and `kinds`. */
export const isOfCaller = and(
  eq(notifications.userId, hiddenParameter('userId', 'uuid')),
  sql`(${sql.placeholder('workspaceIds')}::uuid[] is null
    or ${notifications.workspaceId} = any(${sql.placeholder('workspaceIds')}::uuid[]))`,
  sql`${notifications.kind} = any(${sql.placeholder('kinds')}::text[])`,
)

/** Whether a notification is about no seed, or about one that is not deleted. The seed is joined from the left. */
export const isNotOfDeletedSeed = isNull(seeds.deletedAt)

const isUnread = isNull(notifications.readAt)
const isRead = isNotNull(notifications.readAt)

const selectAll = prepared((executor) => prepareList(executor, 'notifications_select'))
const selectUnread = prepared((executor) => prepareList(executor, 'notifications_select_unread', isUnread))
const selectRead = prepared((executor) => prepareList(executor, 'notifications_select_read', isRead))

function prepareList(executor: Executor, name: string, filter?: SQL) {
  const columns = itemColumns<NotificationRow>(listedColumns)
  return selectJsonRows(executor, selectPage(executor, columns, filter)).prepare(name)
}

/** The picture of who did it, if they are a member of the workspace. */
const actorPicture = subquery(sql<string | null>`(
  select ${pictureUrl(users.imageKey)} from ${memberships} join ${users} on ${users.id} = ${memberships.userId}
  where ${memberships.userId} = ${notifications.actorUserId}
    and ${memberships.workspaceId} = ${notifications.workspaceId}
)`)

const selectAllShown = prepared((executor) => prepareShownList(executor, 'notifications_select_shown'))
const selectUnreadShown = prepared((executor) =>
  prepareShownList(executor, 'notifications_select_unread_shown', isUnread),
)

/** Whether a comment, and whether evidence, is what a notification is about. */
export const isItsComment = eq(comments.id, notifications.commentId)
export const isItsEvidence = and(
  eq(notifications.kind, 'evidence'),
  sql`${evidence.id} = (${notifications.data} ->> 'evidenceId')::uuid`,
  isNull(evidence.withdrawnAt),
)

/** More than a list shows of a text. */
const writtenLengthMax = 2_000

function prepareShownList(executor: Executor, name: string, filter?: SQL) {
  const columns = itemColumns<ShownNotificationRow>({
    ...listedColumns,
    actorPicture,
    body: sql<string | null>`left(${comments.body}, ${sql.raw(String(writtenLengthMax))})`,
    mentions: mentionsOfComment,
    summary: sql<string | null>`left(${evidence.summary}, ${sql.raw(String(writtenLengthMax))})`,
  })
  const rows = selectPage(executor, columns, filter)
    .leftJoin(comments, isItsComment)
    .leftJoin(evidence, isItsEvidence)
  return selectJsonRows(executor, rows).prepare(name)
}

function selectPage(executor: Executor, columns: Record<string, SQL.Aliased>, filter?: SQL) {
  const { id, createdAt } = notifications
  return executor
    .select(columns)
    .from(notifications)
    .innerJoin(workspaces, isWorkspace(notifications.workspaceId))
    .leftJoin(seeds, eq(seeds.id, notifications.seedId))
    .where(and(isOfCaller, filter, isNotOfDeletedSeed, isBefore(createdAt, id)))
    .orderBy(desc(createdAt), desc(id))
    .limit(pageLimit)
    .$dynamic()
}

/** Notifications of a person, newest first: all, or only those that are unread or read. */
export function listNotifications(
  executor: Executor,
  { unread, ...values }: InboxOfCaller & { unread: boolean | undefined } & PageRange,
): Promise<JsonRows> {
  const select = unread === undefined ? selectAll : unread ? selectUnread : selectRead
  return readOne(select(executor).execute({ ...values }))
}

/** As `listNotifications`, of `ShownNotificationRow`: all, or only those that are unread. */
export function listShown(
  executor: Executor,
  {
    isUnreadOnly,
    ...values
  }: InboxOfCaller & { isUnreadOnly: boolean; pictureUrlPrefix: string } & PageRange,
): Promise<JsonRows> {
  const select = isUnreadOnly ? selectUnreadShown : selectAllShown
  return readOne(select(executor).execute({ ...values }))
}

/** The number of unread notifications of a person, up to `unreadCountMax`, as a subquery. */
export function unreadCountOf(userId: Column | SQL, filter?: SQL): SQL<number> {
  return sql<number>`(
    select count(*)::int from (
      select from ${notifications} left join ${seeds} on ${eq(seeds.id, notifications.seedId)}
      where ${and(eq(notifications.userId, userId), filter, isNull(notifications.readAt), isNotOfDeletedSeed)}
      limit ${sql.raw(String(unreadCountMax))}
    ) as unread
  )`
}

const selectUnreadCount = prepared((executor) =>
  executor
    .select({ unread: unreadCountOf(hiddenParameter('userId', 'uuid'), isOfCaller).as('unread_count') })
    .from(sql`(select) as nothing`)
    .prepare('notifications_count_unread'),
)

/** The number of unread notifications of a person, up to `unreadCountMax`. */
export async function countUnread(executor: Executor, inbox: InboxOfCaller): Promise<number> {
  const { unread } = await readOne(selectUnreadCount(executor).execute({ ...inbox }))
  return unread
}

const updateReadByIds = prepared((executor) =>
  executor
    .update(notifications)
    .set({ readAt: sql`${sql.placeholder('now')}` })
    .where(
      and(
        isOfCaller,
        isNull(notifications.readAt),
        sql`${notifications.id} = any(${sql.placeholder('ids')}::uuid[])`,
      ),
    )
    .prepare('notifications_mark_read'),
)

/** Marks some notifications of a person as read. */
export async function markRead(
  executor: Executor,
  inbox: InboxOfCaller,
  { ids, now }: { ids: readonly string[]; now: Date },
): Promise<void> {
  await updateReadByIds(executor).execute({ ...inbox, ids: [...ids], now: now.toISOString() })
}

const updateUnreadByIds = prepared((executor) =>
  executor
    .update(notifications)
    .set({ readAt: null })
    .where(
      and(
        isOfCaller,
        isNotNull(notifications.readAt),
        sql`${notifications.id} = any(${sql.placeholder('ids')}::uuid[])`,
      ),
    )
    .prepare('notifications_mark_unread'),
)

/** Marks some notifications of a person as unread. */
export async function markUnread(
  executor: Executor,
  inbox: InboxOfCaller,
  ids: readonly string[],
): Promise<void> {
  await updateUnreadByIds(executor).execute({ ...inbox, ids: [...ids] })
}

const updateReadUntil = prepared((executor) =>
  executor
    .update(notifications)
    .set({ readAt: sql`${sql.placeholder('now')}` })
    .where(
      and(
        isOfCaller,
        isNull(notifications.readAt),
        sql`${notifications.createdAt} <= ${sql.placeholder('until')}::timestamptz`,
      ),
    )
    .prepare('notifications_mark_read_until'),
)

/** Marks all notifications of a person until a time as read. */
export async function markReadUntil(
  executor: Executor,
  inbox: InboxOfCaller,
  { until, now }: { until: Date; now: Date },
): Promise<void> {
  const times = { until: until.toISOString(), now: now.toISOString() }
  await updateReadUntil(executor).execute({ ...inbox, ...times })
}

/** Deletes notifications from before a time. */
export async function deleteOldNotifications(executor: Executor, before: Date): Promise<void> {
  await executor.delete(notifications).where(lt(notifications.createdAt, before))
}

/** Changes the name of a person in all notifications about what they did. */
export async function renameActor(executor: Executor, userId: string, name: string): Promise<void> {
  await executor.update(notifications).set({ actorName: name }).where(eq(notifications.actorUserId, userId))
}
