import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterFile } from './after-file.ts'
import { selectRows, type TestApp } from './test-app.ts'

/** A folder of the test file's own, removed when its tests are done. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-test-'))
  afterFile(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The names of the files in the folder of uploads, finished or not. */
export async function listUploads({ config }: Pick<TestApp, 'config'>): Promise<string[]> {
  try {
    return (await readdir(join(config.dataDir, 'uploads'))).toSorted()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Every picture that the database knows of. */
export function findPictures({
  db,
}: Pick<TestApp, 'db'>): Promise<{ key: string; unused_since: string | null }[]> {
  return selectRows(db, sql`select key, unused_since from pictures order by key collate "C"`)
}

/** The storage key in a picture's URL. */
export const keyOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)
