import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll } from 'vitest'
import { selectRows, type TestApp } from './test-app.ts'

const folders: string[] = []

// Here, not where a folder is made: a hook that is registered while a test runs is not called.
afterAll(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
})

/** A folder of the test file's own, removed when its tests are done. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-test-'))
  folders.push(folder)
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
