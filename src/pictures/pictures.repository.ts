import { and, asc, eq, gt, isNotNull, isNull, lt } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { pictures } from '../db/schema/pictures.ts'

export async function insertUnusedPicture(executor: Executor, key: string, since: Date): Promise<void> {
  await executor.insert(pictures).values({ key, unusedSince: since })
}

// `unusedSince` of a picture to delete: long ago, so that the next collection retries a failed deletion.
const markedForDeletion = new Date(0)

/** Marks a picture for deletion by the next collection. Nothing may use it after the transaction. */
export async function markUsedPictureForDeletion(executor: Executor, key: string): Promise<void> {
  await markPictureUnused(executor, key, markedForDeletion)
}

/** Marks a picture as used. Returns false if it is marked for deletion or has been deleted. */
export async function markPictureUsed(executor: Executor, key: string): Promise<boolean> {
  const { rowCount } = await executor
    .update(pictures)
    .set({ unusedSince: null })
    .where(and(eq(pictures.key, key), gt(pictures.unusedSince, markedForDeletion)))
  return rowCount === 1
}

/** Marks an unused picture for deletion, so that it can no longer be used. Returns false if it is in use. */
export async function markPictureForDeletion(executor: Executor, key: string): Promise<boolean> {
  const { rowCount } = await executor
    .update(pictures)
    .set({ unusedSince: markedForDeletion })
    .where(and(eq(pictures.key, key), isNotNull(pictures.unusedSince)))
  return rowCount === 1
}

export async function markPictureUnused(executor: Executor, key: string, since: Date): Promise<void> {
  await executor.update(pictures).set({ unusedSince: since }).where(eq(pictures.key, key))
}

export async function deletePictureRow(executor: Executor, key: string): Promise<void> {
  await executor.delete(pictures).where(eq(pictures.key, key))
}

/** Returns up to `limit` pictures that have been unused since before a time. */
export async function listUnusedPictures(executor: Executor, before: Date, limit: number): Promise<string[]> {
  const rows = await executor
    .select({ key: pictures.key })
    .from(pictures)
    .where(lt(pictures.unusedSince, before))
    .limit(limit)
  return rows.map((row) => row.key)
}

/** The keys of the pictures that are in use, behind a key, in their order. */
export async function listUsedPictures(
  executor: Executor,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await executor
    .select({ key: pictures.key })
    .from(pictures)
    .where(and(isNull(pictures.unusedSince), gt(pictures.key, after)))
    .orderBy(asc(pictures.key))
    .limit(limit)
  return rows.map((row) => row.key)
}
