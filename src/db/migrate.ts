import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { fillCanonicalEmails } from './canonical-emails.ts'

const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url))
// Any number will do, as long as nothing else in the database takes the same advisory lock.
const migrationLockId = 7_203_411_864

/**
 * Brings the database up to date. Replicas that start at once take turns under an advisory lock, and all but the first
 * find nothing left to do.
 */
export async function migrateDatabase(pool: pg.Pool): Promise<void> {
  if (!(await isMigrated(pool))) await applyMigrations(pool)
  await fillCanonicalEmails(pool)
}

async function applyMigrations(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0; set lock_timeout = 0')
    // Waits for another replica's migration, however long that takes.
    await client.query('select pg_advisory_lock($1)', [migrationLockId])
    // Only for a database that is not up to date, since these take a while to load.
    const { migrate } = await import('drizzle-orm/node-postgres/migrator')
    const { Logger, runMigrations } = await import('graphile-worker')
    // It would write to standard error, past our log; a failure is thrown as well.
    const quiet = new Logger(() => () => undefined)
    // The queue's own tables first: when ours are there, everything is.
    await runMigrations({ pgPool: pool, logger: quiet })
    await migrate(drizzle({ client }), { migrationsFolder })
  } finally {
    // Closing the connection gives back the lock and the setting.
    client.release(true)
  }
}

/** Whether the newest migration of this program has been applied. Throws when the database does not answer. */
export async function isMigrated(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ applied: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null as applied`,
  )
  if (!rows[0]?.applied) return false
  const { rowCount } = await pool.query('select from drizzle.__drizzle_migrations where created_at = $1', [
    newestMigration(),
  ])
  return rowCount === 1
}

let newest: number | undefined

function newestMigration(): number {
  if (newest === undefined) {
    const journal = JSON.parse(readFileSync(`${migrationsFolder}/meta/_journal.json`, 'utf8')) as {
      entries: { when: number }[]
    }
    newest = Math.max(...journal.entries.map((entry) => entry.when))
  }
  return newest
}
