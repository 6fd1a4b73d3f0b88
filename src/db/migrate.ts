import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { isLockTimeout } from './errors.ts'
import { DatabaseUnusableError } from './usable.ts'

const migrationsFolder = fileURLToPath(new URL('../../drizzle', import.meta.url))
// An arbitrary number, which no other advisory lock in the database uses.
const migrationLockId = 7_203_411_864
// Less than PostgreSQL's deadlock_timeout of a second: in a deadlock it is the migration that gives up, not a request.
const lockTimeoutMs = 500
const attemptsMax = 100
const pauseMs = 500
// The last migration before the baseline.
const lastBeforeBaseline = 1_795_400_850_976

/**
 * Applies missing migrations, under an advisory lock, so that replicas that start together do not conflict. Throws
 * DatabaseUnusableError if the database lacks migrations that the baseline has replaced.
 */
export async function migrateDatabase(pool: pg.Pool): Promise<void> {
  if (!(await isMigrated(pool))) await applyMigrations(pool)
}

async function applyMigrations(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('set statement_timeout = 0; set lock_timeout = 0')
    // Waits for the migration of another replica, without a timeout.
    await client.query('select pg_advisory_lock($1)', [migrationLockId])
    // Imported here, since they are slow to load and rarely needed.
    const { Logger, runMigrations } = await import('graphile-worker')
    await recordBaseline(client)
    // Its default logger writes to standard error. Failures are thrown as well.
    const quiet = new Logger(() => () => undefined)
    // The tables of the queue come first: `isMigrated` checks only the migrations below.
    await runMigrations({ pgPool: pool, logger: quiet })
    await applyEach(client)
  } finally {
    // Closing the connection releases the lock and resets the settings.
    client.release(true)
  }
}

/**
 * Applies each missing migration in a transaction of its own and in one round trip, and records it as Drizzle does. Its
 * migrator has one transaction for all, which would hold the locks of the first until the end of the last. A migration that
 * has to wait for a lock begins again a little later: requests queue behind who waits for the lock of a table.
 */
async function applyEach(client: pg.PoolClient): Promise<void> {
  const { readMigrationFiles } = await import('drizzle-orm/migrator')
  await client.query(`create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`)
  const { rows } = await client.query<{ newest: string | null }>(
    'select max(created_at) as newest from drizzle.__drizzle_migrations',
  )
  for (const { sql, hash, folderMillis } of readMigrationFiles({ migrationsFolder })) {
    if (folderMillis <= Number(rows[0]?.newest ?? 0)) continue
    const record = `insert into drizzle.__drizzle_migrations (hash, created_at) values ('${hash}', ${folderMillis})`
    await retryLocked(client, [
      'begin',
      `set local lock_timeout = ${lockTimeoutMs}`,
      ...sql,
      record,
      'commit',
    ])
  }
}

async function retryLocked(client: pg.PoolClient, statements: readonly string[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(statements.join(';\n'))
      return
    } catch (error) {
      if (!isLockTimeout(error) || attempt === attemptsMax) throw error
    }
    await client.query('rollback')
    await pause(pauseMs)
  }
}

/**
 * Records the baseline as applied in a database with all migrations that it has replaced: they make the same schema
 * (docs/design/database.md#the-baseline). The migrator then skips it, and so does the version before, which still finds
 * its own rows.
 */
async function recordBaseline(client: pg.PoolClient): Promise<void> {
  if (!(await hasMigrationsTable(client))) return
  const { rows } = await client.query<{ newest: string | null }>(
    'select max(created_at) as newest from drizzle.__drizzle_migrations',
  )
  const newest = rows[0]?.newest
  const { readMigrationFiles } = await import('drizzle-orm/migrator')
  const [baseline] = readMigrationFiles({ migrationsFolder })
  if (newest == null || !baseline || Number(newest) >= baseline.folderMillis) return
  if (Number(newest) !== lastBeforeBaseline)
    throw new DatabaseUnusableError(
      'The database is too old for this version: start the last version before 1.0.0-alpha.1 on it once, then this one.',
    )
  await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
    baseline.hash,
    baseline.folderMillis,
  ])
}

/** Whether the newest migration of this version has been applied. Throws when the database is unavailable. */
export async function isMigrated(pool: pg.Pool): Promise<boolean> {
  if (!(await hasMigrationsTable(pool))) return false
  const { rowCount } = await pool.query('select from drizzle.__drizzle_migrations where created_at = $1', [
    newestMigration(),
  ])
  return rowCount === 1
}

async function hasMigrationsTable(client: pg.Pool | pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null as exists`,
  )
  return rows[0]?.exists === true
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
