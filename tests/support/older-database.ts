import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import pg from 'pg'
import { afterFile } from './after-file.ts'
import { createEmptyDatabase } from './test-app.ts'
import { makeFolder } from './uploads.ts'

/** A database as an earlier version left it, with all migrations up to this one, by its number. */
export async function openOlderDatabase(lastMigration: number): Promise<pg.Pool> {
  const pool = new pg.Pool({ connectionString: await createEmptyDatabase(), max: 2 })
  afterFile(() => pool.end())
  const folder = join(await makeFolder(), 'drizzle')
  await mkdir(folder)
  await cp('drizzle', folder, { recursive: true })
  const path = join(folder, 'meta', '_journal.json')
  const journal = JSON.parse(await readFile(path, 'utf8')) as { entries: { idx: number }[] }
  journal.entries = journal.entries.filter(({ idx }) => idx <= lastMigration)
  await writeFile(path, JSON.stringify(journal))
  await migrate(drizzle({ client: pool }), { migrationsFolder: folder })
  return pool
}
