import { randomUUID } from 'node:crypto'
import type pg from 'pg'

/** What an operator has to know of a database before the service uses it. */
export interface DatabaseState {
  /** Such as 170002. */
  version: number
  /** Of the extensions that the service needs, those that are neither there nor can be created. */
  missingExtensions: string[]
  /** How far the clock of the server is ahead, in milliseconds. */
  clockAheadMs: number
}

const extensions = ['pg_trgm', 'unaccent']

/** Reads the state of a database, and changes nothing. */
export async function inspectDatabase(pool: pg.Pool): Promise<DatabaseState> {
  // Of the second statement, since the first waits for a connection.
  await pool.query('select 1')
  const askedAt = Date.now()
  const { rows } = await pool.query<{ version: number; available: string[]; now: number }>(
    `select current_setting('server_version_num')::int as version,
      extract(epoch from clock_timestamp())::float * 1000 as now,
      array(select name::text from pg_available_extensions where name = any($1)) as available`,
    [extensions],
  )
  const [row] = rows
  if (!row) throw new Error('the database returned no row')
  return {
    version: row.version,
    missingExtensions: extensions.filter((name) => !row.available.includes(name)),
    clockAheadMs: Math.round(row.now - (askedAt + Date.now()) / 2),
  }
}

/** When the server was started, on its clock. */
export async function findServerStart(pool: pg.Pool): Promise<Date> {
  const { rows } = await pool.query<{ start: Date }>('select pg_postmaster_start_time() as start')
  if (!rows[0]) throw new Error('the database returned no row')
  return rows[0].start
}

/**
 * Whether a client keeps its connection to the server between two transactions. Behind a pooler in transaction mode,
 * another client that begins a transaction takes the one that was used last.
 */
export async function keepsSessions(pool: pg.Pool): Promise<boolean> {
  const clients: pg.PoolClient[] = []
  try {
    const first = await pool.connect()
    clients.push(first)
    const second = await pool.connect()
    clients.push(second)
    await second.query('select 1')
    const mark = randomUUID()
    await first.query(`select set_config('workspace.mark', $1, false)`, [mark])
    await second.query('begin')
    await second.query('select 1')
    const { rows } = await first.query<{ mark: string }>(
      `select current_setting('workspace.mark', true) as mark`,
    )
    return rows[0]?.mark === mark
  } finally {
    // They are closed, so that no setting stays.
    for (const client of clients) client.release(true)
  }
}
