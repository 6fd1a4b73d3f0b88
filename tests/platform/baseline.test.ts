import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { isMigrated, migrateDatabase } from '../../src/db/migrate.ts'
import { DatabaseUnusableError } from '../../src/db/usable.ts'
import { afterFile } from '../support/after-file.ts'
import { describeSchema } from '../support/describe-schema.ts'
import { clone, createEmptyDatabase } from '../support/test-app.ts'

// The last two migrations before the baseline.
const [lastButOne, last] = [1_795_400_629_630, 1_795_400_850_976]

function connect(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  afterFile(() => pool.end())
  return pool
}

async function openBaseline(): Promise<pg.Pool> {
  const pool = connect(await createEmptyDatabase())
  await pool.query(await readFile('drizzle/0000_baseline.sql', 'utf8'))
  return pool
}

/** A database as a version before the baseline left it, with a user. */
async function openOlderDatabase(migrations: number[]): Promise<pg.Pool> {
  const pool = await openBaseline()
  await pool.query(`
    create schema drizzle;
    create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
    insert into users (id, email, name, created_at) values (gen_random_uuid(), 'ada@example.com', 'Ada', now())`)
  await pool.query(
    `insert into drizzle.__drizzle_migrations (hash, created_at) select 'old', unnest($1::bigint[])`,
    [migrations],
  )
  return pool
}

const readAll = async (pool: pg.Pool, table: string) =>
  (await pool.query<object>(`select * from ${table}`)).rows

const readMigrations = async (pool: pg.Pool) =>
  await readAll(pool, '(select hash, created_at from drizzle.__drizzle_migrations order by id) as applied')

describe('the baseline migration', () => {
  it('creates the same schema as the migrations that it replaces', async () => {
    const expected = await readFile('tests/platform/schema-before-baseline.txt', 'utf8')
    expect(await describeSchema(await openBaseline())).toBe(expected)
  })

  it('is recorded once in a database with all earlier migrations, and keeps its rows', async () => {
    const pool = await openOlderDatabase([lastButOne, last])
    const before = await readAll(pool, 'users')
    expect(before).toHaveLength(1)
    expect(await isMigrated(pool)).toBe(false)
    await Promise.all([migrateDatabase(pool), migrateDatabase(connect(pool.options.connectionString ?? ''))])
    expect(await isMigrated(pool)).toBe(true)
    // Later migrations add columns.
    expect(await readAll(pool, 'users')).toEqual(before.map((row) => expect.objectContaining(row) as object))
    const fresh = connect(await clone())
    // The version before starts as long as the row of its newest migration is there.
    expect(await readMigrations(pool)).toEqual([
      { hash: 'old', created_at: String(lastButOne) },
      { hash: 'old', created_at: String(last) },
      ...(await readMigrations(fresh)),
    ])
    expect(await describeSchema(pool)).toBe(await describeSchema(fresh))
  })

  it('fails in an older database without changing it, and the error says what to start first', async () => {
    const pool = await openOlderDatabase([lastButOne])
    const error: unknown = await migrateDatabase(pool).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(DatabaseUnusableError)
    expect((error as Error).message).toMatch(
      /start the last version before 1\.0\.0-alpha\.1 on it once, then this one/,
    )
    expect(await readMigrations(pool)).toEqual([{ hash: 'old', created_at: String(lastButOne) }])
    expect((await pool.query(`select to_regnamespace('graphile_worker') as queue`)).rows).toEqual([
      { queue: null },
    ])
  })
})
