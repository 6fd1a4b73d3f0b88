import { and, asc, desc, eq, gt, inArray, isNull, lte, ne, or, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { commentMentions, comments } from '../../db/schema/comments.ts'
import { notificationDigests, notifications } from '../../db/schema/notifications.ts'
import { evidence, isUndecided, seeds } from '../../db/schema/seeds.ts'
import { teamMembers } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { getsMailsAbout, getsNotices } from '../../db/sql/gets-notices.ts'
import { timestampText } from '../../db/sql/json-rows.ts'
import { mentionsOfComment, mentionsTeam } from '../../db/sql/mentions-of-comment.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { notificationKinds, type StoredNotification } from '../../domain/notifications.ts'
import { isNotOfDeletedSeed, storedColumns } from './notifications.repository.ts'

// Who is mailed what. Literals, not parameters: only then can a prepared statement use the partial indexes.
const isUnmailed = isNull(notifications.mailedAt)
const isUnread = isNull(notifications.readAt)
/** Mentions, accepted invites and reminders have mails of their own. A later version may have written kinds without words here. */
const isOfDigest = sql`${notifications.kind} not in ('mention', 'invite_accepted', 'decision_due')
  and ${notifications.kind} in (${sql.raw(notificationKinds.map((kind) => `'${kind}'`).join())})`
/** Whether a person gets the mail that a notification is of. */
const isMailed = and(
  getsNotices,
  sql`case ${notifications.kind}
    when 'mention' then ${users.notifyMentions} = 'mail'
    when 'invite_accepted' then ${users.notifyAcceptedInvites} = 'mail'
    when 'decision_due' then ${users.notifyDecisions} = 'mail'
    when 'role_changed' then ${users.notifyDigest} and ${users.notifyRoleChanges} = 'mail'
    when 'agent' then ${users.notifyDigest} and ${users.notifyAgents} = 'mail'
    when 'agent_asked' then ${users.notifyDigest} and ${users.notifyAgentRequests} = 'mail'
    else ${users.notifyDigest}
  end`,
)

/** Whether a person gets mails about their workspaces; undefined if there is no such person. */
export async function findWorkspaceActivity(
  executor: Executor,
  userId: string,
): Promise<boolean | undefined> {
  const [row] = await executor
    .select({ workspaceActivity: users.workspaceActivity })
    .from(users)
    .where(eq(users.id, userId))
  return row?.workspaceActivity
}

/** Sets whether a person gets mails about their workspaces. Returns false if there is no such person. */
export async function setWorkspaceActivity(
  executor: Executor,
  userId: string,
  workspaceActivity: boolean,
): Promise<boolean> {
  const { rowCount } = await executor.update(users).set({ workspaceActivity }).where(eq(users.id, userId))
  return rowCount === 1
}

/** A person who was mentioned, and how they were told. */
export interface MentionedPerson {
  userId: string
  workspaceId: string
  name: string
  email: string
  notification: StoredNotification
  comment: QuotedComment
}

/** A comment as it is stored, with the names of those whom it mentions. */
export interface QuotedComment {
  body: string
  mentions: { userId: string; name: string }[]
}

const commentColumns = { body: comments.body, mentions: mentionsOfComment }

const isMentioned = subquery(sql`exists (
  select from ${commentMentions}
  where ${commentMentions.commentId} = ${comments.id} and ${commentMentions.userId} = ${users.id}
)`)

const isInMentionedTeam = subquery(sql`exists (
  select from ${teamMembers}
  where ${teamMembers.workspaceId} = ${comments.workspaceId} and ${teamMembers.userId} = ${users.id}
    and ${mentionsTeam(teamMembers.teamId)}
)`)

const selectMentioned = prepared((executor) =>
  executor
    .select({
      userId: users.id,
      workspaceId: workspaces.id,
      name: users.name,
      email: users.email,
      notification: storedColumns,
      comment: commentColumns,
    })
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .innerJoin(comments, eq(comments.id, notifications.commentId))
    .innerJoin(workspaces, isWorkspace(notifications.workspaceId))
    .leftJoin(seeds, eq(seeds.id, notifications.seedId))
    .where(
      and(
        // By the index of comments.
        eq(notifications.commentId, sql.placeholder('commentId')),
        eq(notifications.id, sql.placeholder('noticeId')),
        // Not if the comment was edited and no longer mentions them.
        or(isMentioned, isInMentionedTeam),
        isUnread,
        isUnmailed,
        isNotOfDeletedSeed,
        isMailed,
      ),
    )
    .orderBy(asc(users.id))
    .prepare('notifications_select_mentioned'),
)

/**
 * Those who were told that a comment mentions them, which it still does, who have neither read it nor been mailed, and get
 * such mails; with the comment as it is now.
 */
export async function listMentioned(
  executor: Executor,
  mention: { commentId: string; noticeId: string },
): Promise<MentionedPerson[]> {
  return await selectMentioned(executor).execute(mention)
}

/** Marks notifications of a person as mailed. */
export async function markMailed(
  executor: Executor,
  { userId, ids, now }: { userId: string; ids: readonly string[]; now: Date },
): Promise<void> {
  await executor
    .update(notifications)
    .set({ mailedAt: now })
    .where(and(eq(notifications.userId, userId), inArray(notifications.id, [...ids])))
}

/**
 * The people whose digest is due: with an unread notification from before `until` that no mail was about, and without a
 * digest since `before`.
 */
export async function listDueDigests(
  executor: Executor,
  { until, before, limit }: { until: Date; before: Date; limit: number },
): Promise<string[]> {
  const rows = await executor
    .selectDistinct({ userId: notifications.userId })
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .leftJoin(notificationDigests, eq(notificationDigests.userId, notifications.userId))
    .leftJoin(seeds, eq(seeds.id, notifications.seedId))
    .where(
      and(
        isUnmailed,
        isUnread,
        isOfDigest,
        isNotOfDeletedSeed,
        lte(notifications.createdAt, until),
        isMailed,
        or(isNull(notificationDigests.sentAt), lte(notificationDigests.sentAt, before)),
      ),
    )
    .orderBy(asc(notifications.userId))
    .limit(limit)
  return rows.map(({ userId }) => userId)
}

/** The people who were not mailed yet that somebody accepted their invite. */
export async function listInvitersToMail(executor: Executor, limit: number): Promise<string[]> {
  const rows = await executor
    .selectDistinct({ userId: notifications.userId })
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .where(and(isUnmailed, isUnread, isOfAcceptedInvite, isMailed))
    .orderBy(asc(notifications.userId))
    .limit(limit)
  return rows.map(({ userId }) => userId)
}

const isOfAcceptedInvite = eq(notifications.kind, sql`'invite_accepted'`)

/** Whether a notification reminds of a seed that is still to be decided by that date. */
const isOfReminder = and(
  eq(notifications.kind, sql`'decision_due'`),
  sql`${notifications.data} ->> 'decideBy' = to_char(${seeds.decideBy}, 'YYYY-MM-DD')`,
  isUndecided,
  isNotOfDeletedSeed,
)

/** The people who were not mailed yet that seeds are to be decided soon. */
export async function listRemindedToMail(executor: Executor, limit: number): Promise<string[]> {
  const rows = await executor
    .selectDistinct({ userId: notifications.userId })
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .innerJoin(seeds, eq(seeds.id, notifications.seedId))
    .where(and(isUnmailed, isUnread, isOfReminder, isMailed))
    .orderBy(asc(notifications.userId))
    .limit(limit)
  return rows.map(({ userId }) => userId)
}

/** The reminders of a person that they have not read, and no mail was about, of what is still due. Undefined without any. */
export function findReminders(
  executor: Executor,
  userId: string,
  limit: number,
): Promise<Unmailed | undefined> {
  return findUnmailed(executor, userId, { filter: isOfReminder, limit })
}

/** A person, and what a mail is about. */
export interface Unmailed {
  name: string
  email: string
  /** Newest first. */
  notifications: [StoredNotification & { id: string }, ...(StoredNotification & { id: string })[]]
}

/** The unread notifications of a digest that is due to a person, which no mail was about. Undefined if none is due. */
export function findDigest(
  executor: Executor,
  userId: string,
  { before, limit }: { before: Date; limit: number },
): Promise<Unmailed | undefined> {
  const isDue = subquery(sql`not exists (
    select from ${notificationDigests}
    where ${notificationDigests.userId} = ${notifications.userId} and ${gt(notificationDigests.sentAt, before)}
  )`)
  return findUnmailed(executor, userId, { filter: and(isOfDigest, isDue), limit })
}

/** The accepted invites of a person that they have not read, and no mail was about. Undefined without any. */
export function findAcceptedInvites(
  executor: Executor,
  userId: string,
  limit: number,
): Promise<Unmailed | undefined> {
  return findUnmailed(executor, userId, { filter: isOfAcceptedInvite, limit })
}

async function findUnmailed(
  executor: Executor,
  userId: string,
  { filter, limit }: { filter: SQL | undefined; limit: number },
): Promise<Unmailed | undefined> {
  const rows = await executor
    .select({
      name: users.name,
      email: users.email,
      notification: { id: notifications.id, ...storedColumns },
    })
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .innerJoin(workspaces, isWorkspace(notifications.workspaceId))
    .leftJoin(seeds, eq(seeds.id, notifications.seedId))
    .where(and(eq(notifications.userId, userId), isUnmailed, isUnread, filter, isNotOfDeletedSeed, isMailed))
    .orderBy(desc(notifications.createdAt), desc(notifications.id))
    .limit(limit)
  const [first] = rows
  return (
    first && {
      name: first.name,
      email: first.email,
      notifications: rows.map(({ notification }) => notification) as Unmailed['notifications'],
    }
  )
}

/** What was written where notifications of a person are about, by their ids: comments, and evidence that still counts. */
export async function findQuotes(
  executor: Executor,
  userId: string,
  ids: readonly string[],
): Promise<Map<string, QuotedComment>> {
  const rows = await executor
    .select({ id: notifications.id, summary: evidence.summary, ...commentColumns })
    .from(notifications)
    .leftJoin(comments, eq(comments.id, notifications.commentId))
    .leftJoin(
      evidence,
      and(
        eq(notifications.kind, 'evidence'),
        sql`${evidence.id} = (${notifications.data} ->> 'evidenceId')::uuid`,
        isNull(evidence.withdrawnAt),
      ),
    )
    .where(and(eq(notifications.userId, userId), inArray(notifications.id, [...ids])))
  return new Map(
    rows.flatMap(({ id, summary, body, mentions }) => {
      const text = summary ?? body
      return text === null ? [] : [[id, { body: text, mentions }] as const]
    }),
  )
}

/** Records that a person got a digest with some notifications. One statement. */
export async function recordDigest(
  executor: Executor,
  userId: string,
  { ids, now }: { ids: readonly string[]; now: Date },
): Promise<void> {
  const sent = executor.$with('sent').as(
    executor
      .insert(notificationDigests)
      .values({ userId, sentAt: now })
      .onConflictDoUpdate({ target: notificationDigests.userId, set: { sentAt: now } })
      .returning({ userId: notificationDigests.userId }),
  )
  await executor
    .with(sent)
    .update(notifications)
    .set({ mailedAt: now })
    .where(and(eq(notifications.userId, userId), inArray(notifications.id, [...ids])))
}

/**
 * Records of notifications from before a time that they are not mailed, because they were read, or because the person gets
 * no mails: who turns mails on again, or verifies the address, is not mailed what is long past.
 */
export async function settleUnmailed(
  executor: Executor,
  { before, now }: { before: Date; now: Date },
): Promise<void> {
  const hasMailsOff = subquery(sql`exists (
    select from ${users} where ${and(eq(users.id, notifications.userId), sql`not (${isMailed})`)}
  )`)
  await executor
    .update(notifications)
    .set({ mailedAt: now })
    .where(
      and(
        isUnmailed,
        lte(notifications.createdAt, before),
        sql`(${notifications.readAt} is not null or ${hasMailsOff})`,
      ),
    )
}

/** A grant that ends soon, with whom to mail about it. */
export interface EndingGrant {
  userId: string
  name: string
  email: string
  clientName: string
  workspaceId: string
  workspaceName: string
  workspaceSlug: string
}

/** A grant that still ends at a time; undefined if it does not, or if its person gets no such mails. */
export async function findEndingGrant(
  executor: Executor,
  { grantId, expiresAt, now }: { grantId: string; expiresAt: Date; now: Date },
): Promise<EndingGrant | undefined> {
  const [found] = await executor
    .select({
      userId: users.id,
      name: users.name,
      email: users.email,
      clientName: agentGrants.clientName,
      workspaceId: agentGrants.workspaceId,
      workspaceName: workspaces.name,
      workspaceSlug: workspaces.slug,
    })
    .from(agentGrants)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .innerJoin(workspaces, isWorkspace(agentGrants.workspaceId))
    .where(
      and(
        eq(agentGrants.id, grantId),
        isNull(agentGrants.revokedAt),
        eq(agentGrants.expiresAt, expiresAt),
        gt(agentGrants.expiresAt, now),
        getsMailsAbout('agents'),
      ),
    )
  return found
}

/** Grants that end within `noticedMs`, were given longer ago than that, and whose people were not told. */
export async function listEndingGrants(
  executor: Executor,
  { now, noticedMs, limit }: { now: Date; noticedMs: number; limit: number },
) {
  const [soon, earlier] = [new Date(now.getTime() + noticedMs), new Date(now.getTime() - noticedMs)]
  // The same form as in the data of the notification. After the access was prolonged, its end is another one.
  const endsAt = timestampText(agentGrants.expiresAt)
  const isTold = subquery(sql`exists (
    select from ${notifications}
    where ${notifications.userId} = ${agentGrants.userId} and ${notifications.kind} = 'agent'
      and ${notifications.data} ->> 'grantId' = ${agentGrants.id}::text and ${notifications.data} ->> 'endsAt' = ${endsAt}
  )`)
  return executor
    .select({
      id: agentGrants.id,
      workspaceId: agentGrants.workspaceId,
      userId: agentGrants.userId,
      clientName: agentGrants.clientName,
      expiresAt: agentGrants.expiresAt,
    })
    .from(agentGrants)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .innerJoin(workspaces, isWorkspace(agentGrants.workspaceId))
    .where(
      and(
        // Who wants no notices would never count as told.
        ne(users.notifyAgents, 'off'),
        eq(users.kind, 'person'),
        // The next assertion prolongs it.
        isNull(agentGrants.assertedIssuer),
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, now),
        lte(agentGrants.expiresAt, soon),
        lte(agentGrants.createdAt, earlier),
        sql`not ${isTold}`,
      ),
    )
    .orderBy(asc(agentGrants.expiresAt))
    .limit(limit)
}

/** Records of all notifications that they are not mailed any more. */
export async function settleAllUnmailed(executor: Executor, now: Date): Promise<void> {
  await executor.update(notifications).set({ mailedAt: now }).where(isUnmailed)
}
