import { and, desc, eq, gt, inArray, lte, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { sessions } from '../db/schema/accounts.ts'
import { flashes } from '../db/schema/website.ts'

/** Which flash, of which session. */
export interface FlashKey {
  idHash: Buffer
  sessionId: string
}

/** Stores a flash, unless its session has ended. */
export async function insertFlash(executor: Executor, row: typeof flashes.$inferInsert): Promise<void> {
  const { idHash, sessionId, sealed, isOnce, expiresAt } = row
  await executor.execute(sql`
    insert into ${flashes} (id_hash, session_id, sealed, is_once, expires_at)
    select ${idHash}, id, ${sealed}, ${isOnce}, ${expiresAt.toISOString()}::timestamptz
    from ${sessions} where id = ${sessionId} for key share`)
}

export async function findFlash(
  executor: Executor,
  { idHash, sessionId }: FlashKey,
  now: Date,
): Promise<{ sealed: Buffer; isOnce: boolean } | undefined> {
  const [row] = await executor
    .select({ sealed: flashes.sealed, isOnce: flashes.isOnce })
    .from(flashes)
    .where(and(eq(flashes.idHash, idHash), eq(flashes.sessionId, sessionId), gt(flashes.expiresAt, now)))
  return row
}

/** Deletes a flash. Returns whether it was there: of several callers at once, one gets true. */
export async function deleteFlash(executor: Executor, { idHash, sessionId }: FlashKey): Promise<boolean> {
  const { rowCount } = await executor
    .delete(flashes)
    .where(and(eq(flashes.idHash, idHash), eq(flashes.sessionId, sessionId)))
  return rowCount === 1
}

/** Deletes all flashes of a session but the newest. */
export async function deleteExcessFlashes(executor: Executor, sessionId: string, max: number): Promise<void> {
  const excess = executor
    .select({ idHash: flashes.idHash })
    .from(flashes)
    .where(eq(flashes.sessionId, sessionId))
    .orderBy(desc(flashes.expiresAt))
    .offset(max)
  await executor.delete(flashes).where(inArray(flashes.idHash, excess))
}

export async function deleteExpiredFlashes(executor: Executor, now: Date): Promise<void> {
  await executor.delete(flashes).where(lte(flashes.expiresAt, now))
}
