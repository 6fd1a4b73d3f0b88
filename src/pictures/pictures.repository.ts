import { and, eq, gt, isNotNull, lt } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { pictures } from '../db/schema/pictures.ts'

export async function insertUnusedPicture(executor: Executor, key: string, since: Date): Promise<void> {
  await executor.insert(pictures).values({ key, unusedSince: since })
}

// Since when a picture is unused that is being deleted: for ever, so that it is collected if the deletion fails.
const condemned = new Date(0)

/** Has a picture deleted by the next collection, that nothing shows once the transaction is committed. */
export async function condemnShownPicture(executor: Executor, key: string): Promise<void> {
  await markPictureUnused(executor, key, condemned)
}

/** Notes that a picture is shown now. Returns whether it can be: as unused it may have been collected. */
export async function markPictureUsed(executor: Executor, key: string): Promise<boolean> {
  const { rowCount } = await executor
    .update(pictures)
    .set({ unusedSince: null })
    .where(and(eq(pictures.key, key), gt(pictures.unusedSince, condemned)))
  return rowCount === 1
}

/** Sees to it that a picture is not shown any more. Returns whether it may be deleted: not when something shows it. */
export async function condemnPicture(executor: Executor, key: string): Promise<boolean> {
  const { rowCount } = await executor
    .update(pictures)
    .set({ unusedSince: condemned })
    .where(and(eq(pictures.key, key), isNotNull(pictures.unusedSince)))
  return rowCount === 1
}

export async function markPictureUnused(executor: Executor, key: string, since: Date): Promise<void> {
  await executor.update(pictures).set({ unusedSince: since }).where(eq(pictures.key, key))
}

export async function deletePictureRow(executor: Executor, key: string): Promise<void> {
  await executor.delete(pictures).where(eq(pictures.key, key))
}

/** Some of the pictures that nothing has shown since before a time. */
export async function listUnusedPictures(executor: Executor, before: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .select({ key: pictures.key })
    .from(pictures)
    .where(lt(pictures.unusedSince, before))
    .limit(limit)
  return rows.map((row) => row.key)
}
