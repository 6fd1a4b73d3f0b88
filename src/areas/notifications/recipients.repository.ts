import { and, asc, eq, gt, inArray, isNull, lte, ne, or, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { notificationDigests, notifications } from '../../db/schema/notifications.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { getsNotices } from '../../db/sql/gets-notices.ts'
import { timestampText } from '../../db/sql/json-rows.ts'
import { prepared } from '../../db/sql/prepared.ts'
import type { StoredNotification } from '../../kernel/notifications.ts'
import { isNotOfDeletedSeed, storedColumns } from './notifications.repository.ts'

// Who is mailed what. Literals, not parameters: only then can a prepared statement use the partial indexes.
const isUnmailed = isNull(notifications.mailedAt)
const isUnread = isNull(notifications.readAt)
/** Mentions have mails of their own. */
const isOfDigest = ne(notifications.kind, sql`'mention'`)

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
  name: string
  email: string
  notification: StoredNotification
}

const selectMentioned = prepared((executor) =>
  executor
    .select({ userId: users.id, name: users.name, email: users.email, notification: storedColumns })
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .innerJoin(workspaces, isWorkspace(notifications.workspaceId))
    .leftJoin(seeds, eq(seeds.id, notifications.seedId))
    .where(
      and(
        // By the index of comments.
        eq(notifications.commentId, sql.placeholder('commentId')),
        eq(notifications.id, sql.placeholder('noticeId')),
        isUnread,
        isUnmailed,
        isNotOfDeletedSeed,
        getsNotices,
      ),
    )
    .orderBy(asc(users.id))
    .prepare('notifications_select_mentioned'),
)

/** Those who were told that a comment mentions them, and have neither read it nor been mailed, and get such mails. */
export async function listMentioned(
  executor: Executor,
  mention: { commentId: string; noticeId: string },
): Promise<MentionedPerson[]> {
  return await selectMentioned(executor).execute(mention)
}

/** Marks a notification of a person as mailed. */
export async function markMailed(
  executor: Executor,
  { userId, id, now }: { userId: string; id: string; now: Date },
): Promise<void> {
  await executor
    .update(notifications)
    .set({ mailedAt: now })
    .where(and(eq(notifications.userId, userId), eq(notifications.id, id)))
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
        getsNotices,
        or(isNull(notificationDigests.sentAt), lte(notificationDigests.sentAt, before)),
      ),
    )
    .orderBy(asc(notifications.userId))
    .limit(limit)
  return rows.map(({ userId }) => userId)
}

/** The person of a digest, and what is in it. */
export interface Digest {
  name: string
  email: string
  /** Newest first. */
  notifications: (StoredNotification & { id: string })[]
}

/** What a digest of a person has: their unread notifications that no mail was about. Undefined if none is due. */
export async function findDigest(
  executor: Executor,
  userId: string,
  { before, limit }: { before: Date; limit: number },
): Promise<Digest | undefined> {
  const rows = await executor
    .select({
      name: users.name,
      email: users.email,
      notification: { id: notifications.id, ...storedColumns },
    })
    .from(notifications)
    .innerJoin(users, eq(users.id, notifications.userId))
    .innerJoin(workspaces, isWorkspace(notifications.workspaceId))
    .leftJoin(notificationDigests, eq(notificationDigests.userId, notifications.userId))
    .leftJoin(seeds, eq(seeds.id, notifications.seedId))
    .where(
      and(
        eq(notifications.userId, userId),
        isUnmailed,
        isUnread,
        isOfDigest,
        isNotOfDeletedSeed,
        getsNotices,
        or(isNull(notificationDigests.sentAt), lte(notificationDigests.sentAt, before)),
      ),
    )
    .orderBy(sql`${notifications.createdAt} desc, ${notifications.id} desc`)
    .limit(limit)
  const [first] = rows
  return (
    first && {
      name: first.name,
      email: first.email,
      notifications: rows.map(({ notification }) => notification as Digest['notifications'][number]),
    }
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
  const hasMailsOff = sql`exists (
    select from ${users} where ${and(eq(users.id, notifications.userId), sql`not (${getsNotices})`)}
  )`
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
        getsNotices,
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
  const isTold = sql`exists (
    select from ${notifications}
    where ${notifications.userId} = ${agentGrants.userId} and ${notifications.kind} = 'agent'
      and ${notifications.data} ->> 'grantId' = ${agentGrants.id}::text and ${notifications.data} ->> 'endsAt' = ${endsAt}
  )`
  return executor
    .select({
      id: agentGrants.id,
      workspaceId: agentGrants.workspaceId,
      userId: agentGrants.userId,
      clientName: agentGrants.clientName,
      expiresAt: agentGrants.expiresAt,
    })
    .from(agentGrants)
    .innerJoin(workspaces, isWorkspace(agentGrants.workspaceId))
    .where(
      and(
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
