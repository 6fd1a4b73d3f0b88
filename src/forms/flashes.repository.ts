import { and, desc, eq, gt, inArray, lte, or, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { endedSessions, sessions } from '../db/schema/accounts.ts'
import { flashes } from '../db/schema/website.ts'

/** Which flash, and who asks for it. */
export interface FlashKey {
  idHash: Buffer
  sessionId: string
  userId: string
}

type NewFlash = Pick<typeof flashes.$inferInsert, 'idHash' | 'sealed' | 'expiresAt'>

/** Stores a flash of a session, unless it has ended. */
export async function insertFlash(
  executor: Executor,
  row: NewFlash & { sessionId: string; isOnce: boolean },
): Promise<void> {
  const { idHash, sessionId, sealed, isOnce, expiresAt } = row
  await executor.execute(sql`
    insert into ${flashes} (id_hash, session_id, sealed, is_once, expires_at)
    select ${idHash}, id, ${sealed}, ${isOnce}, ${expiresAt.toISOString()}::timestamptz
    from ${sessions} where id = ${sessionId} for key share`)
}

/**
 * Stores a flash for the user of a session that ended after `endedAfter`. Returns the user; undefined if there is no such
 * session, and nothing is stored.
 */
export async function insertFlashOfEnded(
  executor: Executor,
  row: NewFlash & { tokenHash: Buffer; now: Date; endedAfter: Date },
): Promise<string | undefined> {
  const [now, endedAfter, expiresAt] = [row.now, row.endedAfter, row.expiresAt].map(
    (at) => sql`${at.toISOString()}::timestamptz`,
  )
  const { rows } = await executor.execute<{ user_id: string }>(sql`
    insert into ${flashes} (id_hash, user_id, sealed, is_once, expires_at)
    select ${row.idHash}, user_id, ${row.sealed}, false, ${expiresAt}
    from (
      select user_id from ${endedSessions} where token_hash = ${row.tokenHash} and ended_at > ${endedAfter}
      union all
      select user_id from ${sessions}
      where token_hash = ${row.tokenHash} and expires_at <= ${now} and expires_at > ${endedAfter}
    ) as ended
    limit 1
    returning user_id`)
  return rows[0]?.user_id
}

export async function findFlash(
  executor: Executor,
  key: FlashKey,
  now: Date,
): Promise<{ sealed: Buffer; isOnce: boolean; isOfEnded: boolean } | undefined> {
  const [row] = await executor
    .select({ sealed: flashes.sealed, isOnce: flashes.isOnce, sessionId: flashes.sessionId })
    .from(flashes)
    .where(and(isFlash(key), gt(flashes.expiresAt, now)))
  return row && { sealed: row.sealed, isOnce: row.isOnce, isOfEnded: row.sessionId === null }
}

/** Deletes a flash. Returns whether it was there: of several callers at once, one gets true. */
export async function deleteFlash(executor: Executor, key: FlashKey): Promise<boolean> {
  const { rowCount } = await executor.delete(flashes).where(isFlash(key))
  return rowCount === 1
}

function isFlash({ idHash, sessionId, userId }: FlashKey) {
  return and(eq(flashes.idHash, idHash), or(eq(flashes.sessionId, sessionId), eq(flashes.userId, userId)))
}

/** Deletes all flashes of a session, or of a user's ended sessions, but the newest. */
export async function deleteExcessFlashes(
  executor: Executor,
  owner: { sessionId: string } | { userId: string },
  max: number,
): Promise<void> {
  const excess = executor
    .select({ idHash: flashes.idHash })
    .from(flashes)
    .where('sessionId' in owner ? eq(flashes.sessionId, owner.sessionId) : eq(flashes.userId, owner.userId))
    .orderBy(desc(flashes.expiresAt))
    .offset(max)
  await executor.delete(flashes).where(inArray(flashes.idHash, excess))
}

export async function deleteExpiredFlashes(executor: Executor, now: Date): Promise<void> {
  await executor.delete(flashes).where(lte(flashes.expiresAt, now))
}
