import { sql } from 'drizzle-orm'
import type pg from 'pg'
import { expect, it } from 'vitest'
import { openDatabase, requestLimits } from '../../src/db/client.ts'
import { isDatabaseUnavailable } from '../../src/db/errors.ts'
import { afterFile } from '../support/after-file.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { clone } from '../support/test-app.ts'

const poolMax = 2
const proxy = await startDatabaseProxy(await clone())
const db = openDatabase({ url: proxy.url, poolMax, limits: requestLimits, onIdleError: () => undefined })
afterFile(() => db.$client.end())

it.each([
  ['begin', 'before'],
  ['begin', 'after'],
  ['commit', 'before'],
  ['commit', 'after'],
] as const)('a connection that breaks %s (%s it is carried out) is given back', async (statement, moment) => {
  for (let i = 0; i <= poolMax; i++) {
    proxy.breakNext(statement, moment)
    const error: unknown = await db
      .transaction((tx) => tx.execute(sql`select 1`))
      .catch((reason: unknown) => reason)
    expect(proxy.hasBroken()).toBe(true)
    expect(isDatabaseUnavailable(error)).toBe(true)
  }
  await db.transaction((tx) => tx.execute(sql`select 1`))
  expect(db.$client.totalCount).toBeLessThanOrEqual(poolMax)
})

it('a connection that breaks between two statements of a transaction fails it, and nothing else', async () => {
  const acquired = new Promise<pg.PoolClient>((resolve) => db.$client.once('acquire', resolve))
  const failing = db.transaction(async (tx) => {
    const client = await acquired
    const ended = new Promise((resolve) => client.once('end', resolve))
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
    await db.execute(sql`select pg_terminate_backend(${rows[0]?.pid})`)
    await ended
    await tx.execute(sql`select 1`)
  })
  const error: unknown = await failing.catch((reason: unknown) => reason)
  expect(isDatabaseUnavailable(error)).toBe(true)
  await db.transaction((tx) => tx.execute(sql`select 1`))
})

it('a connection that breaks between two statements of whoever holds it ends nothing but itself', async () => {
  const client = await db.$client.connect()
  const ended = new Promise((resolve) => client.once('end', resolve))
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // Its `error` event would end the process if nobody listened.
  await db.execute(sql`select pg_terminate_backend(${rows[0]?.pid})`)
  await ended
  await expect(client.query('select 1')).rejects.toSatisfy(isDatabaseUnavailable)
  client.release(true)
})
