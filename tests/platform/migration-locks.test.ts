import pg from 'pg'
import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { afterFile } from '../support/after-file.ts'
import { clone } from '../support/test-app.ts'

const pool = new pg.Pool({ connectionString: await clone() })
afterFile(() => pool.end())

const index = 'events_by_agent_idx'

async function hasIndex(): Promise<boolean> {
  const { rowCount } = await pool.query('select from pg_indexes where indexname = $1', [index])
  return rowCount === 1
}

it('a migration that waits for the lock of a table gives way to the changes behind it, and begins again', async () => {
  await pool.query(`drop index ${index}`)
  // As a database before the migration of the index, and those after it.
  await pool.query('drop table oauth_documents; alter table sessions drop column renewals')
  await pool.query(
    `delete from drizzle.__drizzle_migrations
      where id in (select id from drizzle.__drizzle_migrations order by id desc limit 3)`,
  )
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
