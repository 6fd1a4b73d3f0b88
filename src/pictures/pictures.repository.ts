import { eq, lt } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { pictures } from '../db/schema/pictures.ts'

export async function insertUnusedPicture(executor: Executor, key: string, since: Date): Promise<void> {
  await executor.insert(pictures).values({ key, unusedSince: since })
}

/** Notes that a picture is shown now. Returns whether there is one: it may have been collected as unused. */
export async function markPictureUsed(executor: Executor, key: string): Promise<boolean> {
  const { rowCount } = await executor.update(pictures).set({ unusedSince: null }).where(eq(pictures.key, key))
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
