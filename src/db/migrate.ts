import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { fillCanonicalEmails } from './canonical-emails.ts'

const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url))
// An arbitrary number, which no other advisory lock in the database uses.
const migrationLockId = 7_203_411_864

/** Applies missing migrations, under an advisory lock, so that replicas that start together do not conflict. */
export async function migrateDatabase(pool: pg.Pool): Promise<void> {
  if (!(await isMigrated(pool))) await applyMigrations(pool)
  await fillCanonicalEmails(pool)
}

async function applyMigrations(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0; set lock_timeout = 0')
    // Waits for the migration of another replica, without a timeout.
    await client.query('select pg_advisory_lock($1)', [migrationLockId])
    // Imported here, since they are slow to load and rarely needed.
    const { migrate } = await import('drizzle-orm/node-postgres/migrator')
    const { Logger, runMigrations } = await import('graphile-worker')
    // Its default logger writes to standard error. Failures are thrown as well.
    const quiet = new Logger(() => () => undefined)
    // The tables of the queue come first: `isMigrated` checks only the migrations below.
    await runMigrations({ pgPool: pool, logger: quiet })
    await migrate(drizzle({ client }), { migrationsFolder })
  } finally {
    // Closing the connection releases the lock and resets the settings.
    client.release(true)
  }
}

/** Whether the newest migration of this version has been applied. Throws when the database is unavailable. */
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
