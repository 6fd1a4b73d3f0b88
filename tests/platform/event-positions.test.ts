import type pg from 'pg'
import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { createId } from '../../src/kernel/ids.ts'
import { openDatabaseAtBaseline } from '../support/baseline-database.ts'

function insertEvent(
  client: pg.Pool | pg.PoolClient,
  { workspaceId = '', summary = '', at = '' },
): Promise<unknown> {
  return client.query(
    `insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at)
      values ($1, $2, 'seed.created', 'system', 'The service', 'system', $3, $4)`,
    [createId(), workspaceId, summary, at],
  )
}

async function readEvents(pool: pg.Pool, workspaceId = ''): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(
    `select position || ' ' || summary as line from events where workspace_id = $1 order by position`,
    [workspaceId],
  )
  return rows.map(({ line }) => line)
}

const day = (date: number) => `2026-01-0${date}T00:00:00Z`

/** Waits until a number of statements wait for locks. */
const untilWaiting = (pool: pg.Pool, count: number) =>
  expect
    .poll(
      async () =>
        (
          await pool.query(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).rowCount,
    )
    .toBe(count)

it('numbers the events of each workspace by their times, and later ones behind them', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  const [one, other, empty] = workspaces
  for (const [workspaceId, summary, date] of [
    [one, 'third', 3],
    [one, 'first', 1],
    [other, 'only', 1],
    [one, 'second', 2],
  ] as const)
    await insertEvent(pool, { workspaceId, summary, at: day(date) })
  await migrateDatabase(pool)
  for (const workspaceId of [other, empty])
    await insertEvent(pool, { workspaceId, summary: 'new', at: day(1) })
  expect(await readEvents(pool, one)).toEqual(['1 first', '2 second', '3 third'])
  expect(await readEvents(pool, other)).toEqual(['1 only', '2 new'])
  expect(await readEvents(pool, empty)).toEqual(['1 new'])
})

it('waits for an event that an older process is adding, and numbers one that is added while it runs', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  const [workspaceId] = workspaces
  const older = await pool.connect()
  await older.query('begin')
  await insertEvent(older, { workspaceId, summary: 'before the migration', at: day(2) })
  const migrating = migrateDatabase(pool)
  await untilWaiting(pool, 1)
  const adding = insertEvent(pool, { workspaceId, summary: 'during the migration', at: day(1) })
  await untilWaiting(pool, 2)
  await older.query('commit')
  older.release()
  await Promise.all([migrating, adding])
  expect(await readEvents(pool, workspaceId)).toEqual(['1 before the migration', '2 during the migration'])
})

it('does not wait in a circle with an older process that changes a workspace and then adds an event', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  const [workspaceId] = workspaces
  const older = await pool.connect()
  await older.query('begin')
  await older.query('update workspaces set name = name where id = $1', [workspaceId])
  const migrating = migrateDatabase(pool)
  await untilWaiting(pool, 1)
  await insertEvent(older, { workspaceId, summary: 'renamed', at: day(1) })
  await older.query('commit')
  older.release()
  await migrating
  expect(await readEvents(pool, workspaceId)).toEqual(['1 renamed'])
})
