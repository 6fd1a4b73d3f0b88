import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { openDatabaseAtBaseline } from '../support/baseline-database.ts'

const { pool } = await openDatabaseAtBaseline()

// Of the first migration after the baseline, which changes the table of events.
const index = 'events_by_seed_idx'

async function hasIndex(): Promise<boolean> {
  const { rowCount } = await pool.query('select from pg_indexes where indexname = $1', [index])
  return rowCount === 1
}

it('a migration that waits for the lock of a table gives way to the changes behind it, and begins again', async () => {
  const change = await pool.connect()
  await change.query('begin; lock table events in row exclusive mode')
  const migrated = migrateDatabase(pool)
  await expect
    .poll(
      async () =>
        (await pool.query(`select from pg_locks where relation = 'events'::regclass and not granted`))
          .rowCount,
    )
    .toBe(1)

  // Behind the migration in the queue for the table, and before the lock that it waits for is released.
  const other = await pool.connect()
  await other.query(`begin; set local lock_timeout = '20s'; lock table events in row exclusive mode; commit`)
  expect(await hasIndex()).toBe(false)

  await change.query('commit')
  await migrated
  expect(await hasIndex()).toBe(true)
  for (const client of [change, other]) client.release()
})
