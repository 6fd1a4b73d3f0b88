import { sql } from 'drizzle-orm'
import { expect, vi } from 'vitest'
import { selectRows, type TestApp } from './test-app.ts'

/** Resolves when this number of statements wait for a lock in the database. */
export async function untilWaiting({ db }: Pick<TestApp, 'db'>, count: number): Promise<void> {
  await vi.waitFor(async () => expect(await countWaiting({ db })).toBe(count), { timeout: 10_000 })
}

/** How many statements wait for a lock in the database. */
export async function countWaiting({ db }: Pick<TestApp, 'db'>): Promise<number> {
  const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await selectRows(db, waiting)).length
}
