import { and, desc, eq, gt, inArray, lt, lte, ne, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hasAddress } from '../../db/sql/has-address.ts'
import { unreadCountOf } from '../../areas/notifications/notifications.repository.ts'
import { pictureUrl } from '../../db/sql/json-rows.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { endedSessions, knownBrowsers, sessions } from '../../db/schema/accounts.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { isActive, principalColumns, users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import type { PrincipalUser } from '../../domain/principal.ts'

/** A workspace of a person, for the menu on every page. */
export interface RecentWorkspace {
  id: string
  name: string
  slug: string
  iconUrl: string | null
}

/** A live session with its person and the workspaces that they used last. */
export interface SessionWithUser {
  id: string
  createdAt: Date
  lastUsedAt: Date
  renewals: number
  /** When the person last proved who they are; null for a session of an earlier release. */
  provenAt: Date | null
  user: PrincipalUser
  workspaces: RecentWorkspace[]
  /** The number of unread notifications, up to `unreadCountMax`. */
  unreadCount: number
}

const recentWorkspacesMax = 20

// In the same statement as the session, which every page reads.
const recentWorkspaces = subquery(sql<RecentWorkspace[]>`(
  select coalesce(json_agg(recent), '[]')
  from (
    select ${workspaces.id}, ${workspaces.name}, ${workspaces.slug}, ${pictureUrl(workspaces.iconKey)} as "iconUrl"
    from ${memberships} join ${workspaces} on ${isWorkspace(memberships.workspaceId)}
    where ${memberships.userId} = ${users.id}
    order by ${memberships.lastUsedAt} desc, ${memberships.joinedAt} desc, ${memberships.workspaceId} desc
    limit ${sql.raw(String(recentWorkspacesMax))}
  ) as recent
)`)

const selectLive = prepared((executor) =>
  executor
    .select({
      id: sessions.id,
      createdAt: sessions.createdAt,
      lastUsedAt: sessions.lastUsedAt,
      renewals: sessions.renewals,
      provenAt: sessions.provenAt,
      user: principalColumns,
      workspaces: recentWorkspaces,
      unreadCount: unreadCountOf(users.id).as('unread_count'),
    })
    .from(sessions)
    .innerJoin(users, and(eq(users.id, sessions.userId), isActive))
    .where(
      and(
        eq(sessions.tokenHash, sql.placeholder('tokenHash')),
        gt(sessions.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare('sessions_select_live'),
)

/** Finds a session with its person by the hash of its cookie; undefined if it has ended, or the person is suspended. */
export async function findLiveSession(
  executor: Executor,
  { now, ...values }: { tokenHash: Buffer; now: Date; pictureUrlPrefix: string },
): Promise<SessionWithUser | undefined> {
  const [session] = await selectLive(executor).execute({ ...values, now: now.toISOString() })
  return session
}

export async function insertSession(executor: Executor, row: typeof sessions.$inferInsert): Promise<void> {
  await executor.insert(sessions).values(row)
}

/** Extends a session after a use. */
export async function extendSession(
  executor: Executor,
  id: string,
  times: { lastUsedAt: Date; expiresAt: Date },
): Promise<void> {
  await executor.update(sessions).set(times).where(eq(sessions.id, id))
}

/**
 * Renews a session, so that copies of its cookies end, and records a proof of its person if there was one. Returns false
 * if the session has ended.
 */
export async function renewSession(
  executor: Executor,
  { id, userId, at, isProven }: { id: string; userId: string; at: Date; isProven: boolean },
): Promise<boolean> {
  const { rowCount } = await executor
    .update(sessions)
    .set({ renewals: sql`${sessions.renewals} + 1`, ...(isProven && { provenAt: at }) })
    .where(and(eq(sessions.id, id), eq(sessions.userId, userId), gt(sessions.expiresAt, at)))
  return rowCount === 1
}

/** How often a session was renewed; undefined if there is no such session. */
export async function findRenewals(executor: Executor, id: string): Promise<number | undefined> {
  const [row] = await executor
    .select({ renewals: sessions.renewals })
    .from(sessions)
    .where(eq(sessions.id, id))
  return row?.renewals
}

/**
 * Remembers the browser of a sign-in. Returns true if the person has signed in before, but never with this browser.
 */
export async function rememberBrowser(
  executor: Executor,
  browser: { userId: string; tokenHash: Buffer; usedAt: Date },
): Promise<boolean> {
  const { userId, tokenHash, usedAt } = browser
  const others = await executor
    .select({ isThis: eq(knownBrowsers.tokenHash, tokenHash).mapWith(Boolean) })
    .from(knownBrowsers)
    .where(eq(knownBrowsers.userId, userId))
    // This browser first.
    .orderBy(desc(eq(knownBrowsers.tokenHash, tokenHash)))
    .limit(1)
  await executor
    .insert(knownBrowsers)
    .values({ userId, tokenHash, usedAt })
    .onConflictDoUpdate({ target: [knownBrowsers.userId, knownBrowsers.tokenHash], set: { usedAt } })
  return others[0]?.isThis === false
}

/** Whether the person with an email address has signed in with a browser. */
export async function hasSignedInWith(
  executor: Executor,
  { email, tokenHash }: { email: string; tokenHash: Buffer },
): Promise<boolean> {
  const rows = await executor
    .select({ userId: knownBrowsers.userId })
    .from(knownBrowsers)
    .innerJoin(users, eq(users.id, knownBrowsers.userId))
    .where(and(hasAddress(users.canonicalEmail, email), eq(knownBrowsers.tokenHash, tokenHash)))
  return rows.length > 0
}

/** Deletes browsers without a sign-in since a time. */
export async function deleteForgottenBrowsers(executor: Executor, before: Date): Promise<void> {
  await executor.delete(knownBrowsers).where(lt(knownBrowsers.usedAt, before))
}

export interface SessionRow {
  id: string
  userAgent: string
  createdAt: Date
  lastUsedAt: Date
}

/** A person's live sessions, the most recently used first. */
export function listLiveSessions(executor: Executor, userId: string, now: Date): Promise<SessionRow[]> {
  return executor
    .select({
      id: sessions.id,
      userAgent: sessions.userAgent,
      createdAt: sessions.createdAt,
      lastUsedAt: sessions.lastUsedAt,
    })
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, now)))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
}

export async function deleteSessionByToken(executor: Executor, tokenHash: Buffer): Promise<void> {
  await endSessions(executor, eq(sessions.tokenHash, tokenHash))
}

/** Deletes a session of a person. Returns its `User-Agent`; undefined if there is no such session. */
export async function deleteSessionOfUser(
  executor: Executor,
  session: { id: string; userId: string },
): Promise<string | undefined> {
  const isSession = and(eq(sessions.id, session.id), eq(sessions.userId, session.userId))
  const [userAgent] = await endSessions(executor, isSession)
  return userAgent
}

/** Deletes the sessions of a person that were used least recently, so that no more than `max` are left. */
export async function deleteExcessSessions(executor: Executor, userId: string, max: number): Promise<void> {
  const excess = executor
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.id))
    .offset(max)
  await endSessions(executor, inArray(sessions.id, excess))
}

/** Deletes a person's sessions: all, or all except one. */
export async function deleteSessionsOfUser(
  executor: Executor,
  userId: string,
  exceptId?: string,
): Promise<number> {
  const isOther = exceptId === undefined ? undefined : ne(sessions.id, exceptId)
  return (await endSessions(executor, and(eq(sessions.userId, userId), isOther))).length
}

/** Deletes the sessions of all people. Returns their number. */
export async function deleteAllSessions(executor: Executor): Promise<number> {
  return (await endSessions(executor, sql`true`)).length
}

export async function deleteExpiredSessions(executor: Executor, now: Date): Promise<void> {
  await endSessions(executor, lte(sessions.expiresAt, now))
}

/** Deletes sessions, and notes that they ended. Returns the `User-Agent` of each. */
async function endSessions(executor: Executor, condition: SQL | undefined): Promise<string[]> {
  const { rows } = await executor.execute<{ user_agent: string }>(sql`
    with ended as (delete from ${sessions} where ${condition} returning token_hash, user_id, user_agent),
      noted as (
        insert into ${endedSessions} (token_hash, user_id)
        select token_hash, user_id from ended
      )
    select user_agent from ended`)
  return rows.map((row) => row.user_agent)
}

/** Deletes what is known of sessions that ended before a time. */
export async function deleteEndedSessions(executor: Executor, before: Date): Promise<void> {
  await executor.delete(endedSessions).where(lt(endedSessions.endedAt, before))
}
