import { and, desc, eq, gt, lt, lte, ne, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { prepared } from '../db/prepared.ts'
import { knownBrowsers, sessions } from '../db/schema/accounts.ts'
import { users } from '../db/schema/users.ts'
import type { PrincipalUser } from '../kernel/principal.ts'

/** A live session, and whose it is. */
export interface SessionWithUser {
  id: string
  createdAt: Date
  lastUsedAt: Date
  user: PrincipalUser
}

const selectLive = prepared((executor) =>
  executor
    .select({
      id: sessions.id,
      createdAt: sessions.createdAt,
      lastUsedAt: sessions.lastUsedAt,
      user: {
        id: users.id,
        name: users.name,
        email: users.email,
        emailVerifiedAt: users.emailVerifiedAt,
        imageKey: users.imageKey,
      },
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessions.tokenHash, sql.placeholder('tokenHash')),
        gt(sessions.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare('sessions_select_live'),
)

/** The session of a cookie, with its person, in one round trip; undefined when it has ended. */
export async function findLiveSession(
  executor: Executor,
  tokenHash: Buffer,
  now: Date,
): Promise<SessionWithUser | undefined> {
  const [session] = await selectLive(executor).execute({ tokenHash, now: now.toISOString() })
  return session
}

export async function insertSession(executor: Executor, row: typeof sessions.$inferInsert): Promise<void> {
  await executor.insert(sessions).values(row)
}

/** Moves the end of a session away, from when it was used. */
export async function prolongSession(
  executor: Executor,
  id: string,
  times: { lastUsedAt: Date; expiresAt: Date },
): Promise<void> {
  await executor.update(sessions).set(times).where(eq(sessions.id, id))
}

/**
 * Remembers that a person has signed in with a browser. Returns whether they had signed in before, but never with this
 * one.
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
    // This one first.
    .orderBy(desc(eq(knownBrowsers.tokenHash, tokenHash)))
    .limit(1)
  await executor
    .insert(knownBrowsers)
    .values({ userId, tokenHash, usedAt })
    .onConflictDoUpdate({ target: [knownBrowsers.userId, knownBrowsers.tokenHash], set: { usedAt } })
  return others[0]?.isThis === false
}

/** Forgets browsers that nobody has signed in with since a time. */
export async function deleteForgottenBrowsers(executor: Executor, before: Date): Promise<void> {
  await executor.delete(knownBrowsers).where(lt(knownBrowsers.usedAt, before))
}

export interface SessionRow {
  id: string
  userAgent: string
  createdAt: Date
  lastUsedAt: Date
}

/** A person's live sessions, the one used last first. */
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
  await executor.delete(sessions).where(eq(sessions.tokenHash, tokenHash))
}

/** Ends a session of a person. Returns whether they had it. */
export async function deleteSessionOfUser(
  executor: Executor,
  session: { id: string; userId: string },
): Promise<boolean> {
  const { rowCount } = await executor
    .delete(sessions)
    .where(and(eq(sessions.id, session.id), eq(sessions.userId, session.userId)))
  return rowCount === 1
}

/** Ends a person's sessions: all of them, or all but one. */
export async function deleteSessionsOfUser(
  executor: Executor,
  userId: string,
  exceptId?: string,
): Promise<void> {
  await executor
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), exceptId === undefined ? undefined : ne(sessions.id, exceptId)))
}

/** Throws away what has ended. */
export async function deleteExpiredSessions(executor: Executor, now: Date): Promise<void> {
  await executor.delete(sessions).where(lte(sessions.expiresAt, now))
}
