import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { eventually } from './eventually.ts'
import { selectRows, type TestApp } from './test-app.ts'

/** Resolves when this number of statements wait for a lock in the database. A failure tells which wait. */
export async function untilWaiting({ db }: Pick<TestApp, 'db'>, count: number): Promise<void> {
  await eventually(async () => expect(await listWaiting(db)).toHaveLength(count))
}

/** How many statements wait for a lock in the database. */
export async function countWaiting({ db }: Pick<TestApp, 'db'>): Promise<number> {
  return (await listWaiting(db)).length
}

async function listWaiting(db: TestApp['db']): Promise<string[]> {
  const rows = await selectRows<{ query: string }>(
    db,
    sql`select left(query, 300) as query from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.map(({ query }) => query)
}
