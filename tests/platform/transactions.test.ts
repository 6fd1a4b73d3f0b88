import { sql } from 'drizzle-orm'
import { integer, pgTable, serial, text, timestamp } from 'drizzle-orm/pg-core'
import type pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, requestLimits, type Executor } from '../../src/db/client.ts'
import { isDatabaseUnavailable, isUniqueViolation } from '../../src/db/errors.ts'
import { builders, placeholdersOf, prepared } from '../../src/db/sql/prepared.ts'
import { writeLast } from '../../src/db/transactions.ts'
import { together } from '../../src/db/together.ts'
import { afterFile } from '../support/after-file.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { clone } from '../support/test-app.ts'

const poolMax = 2
const proxy = await startDatabaseProxy(await clone())
const db = openDatabase({ url: proxy.url, poolMax, limits: requestLimits, onIdleError: () => undefined })
afterFile(() => db.$client.end())

/** A prepared statement of this file, which is not one of the service (docs/statements.sql). */
const prepareHere: typeof prepared = (build) => {
  const statement = prepared(build)
  builders.splice(builders.indexOf(build), 1)
  return statement
}

it.each([
  ['begin', 'before'],
  ['begin', 'after'],
  ['commit', 'before'],
  ['commit', 'after'],
] as const)(
  'a connection is returned to the pool when it breaks at %s, %s the statement runs',
  async (statement, moment) => {
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
  },
)

it('a connection that breaks between two statements fails its transaction, and no other', async () => {
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

it('a connection that breaks while it is held does not end the process', async () => {
  const client = await db.$client.connect()
  const ended = new Promise((resolve) => client.once('end', resolve))
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  // Its `error` event would end the process if nobody listened.
  await db.execute(sql`select pg_terminate_backend(${rows[0]?.pid})`)
  await ended
  await expect(client.query('select 1')).rejects.toSatisfy(isDatabaseUnavailable)
  client.release(true)
})

describe('writes in a transaction', () => {
  const things = pgTable('things', { number: integer('number').primaryKey(), at: timestamp('at') })
  const prepareInsert = (name: string) =>
    prepareHere((executor) => executor.insert(things).values(placeholdersOf(things)).prepare(name))
  const insert = prepareInsert('things_insert')
  // After a value that it could not send, node-postgres has lost the statement.
  const insertUnusable = prepareInsert('things_insert_unusable')
  const add = (tx: Executor, number: number, at = new Date()) => insert(tx).execute({ number, at })
  const numbers = async () => {
    const { rows } = await db.execute<{ number: number }>(sql`select number from things order by number`)
    return rows.map((row) => row.number)
  }

  beforeEach(async () => {
    await db.execute(sql`drop table if exists things`)
    await db.execute(sql`create table things (number integer primary key, at timestamp)`)
    await db.execute(sql`insert into things values (1, now())`)
  })

  it('are committed together', async () => {
    const result = await db.transaction(async (tx, write) => {
      write(() => add(tx, 2))
      write(() => add(tx, 3))
      return 'done'
    })
    expect(result).toBe('done')
    expect(await numbers()).toEqual([1, 2, 3])
  })

  it.each(['refused by the server', 'with an unusable time', 'with an unusable value'])(
    'are all rolled back with the error of the failing one (%s)',
    async (kind) => {
      const unusable = {
        toPostgres() {
          throw new Error('unusable')
        },
      }
      const failing = {
        'refused by the server': (tx: Executor) => add(tx, 1),
        'with an unusable time': (tx: Executor) => add(tx, 3, new Date(Number.NaN)),
        'with an unusable value': (tx: Executor) =>
          insertUnusable(tx).execute({ number: unusable, at: new Date() }),
      }[kind]
      const error: unknown = await db
        .transaction(async (tx, write) => {
          write(() => add(tx, 2))
          if (failing) write(failing)
          write(() => add(tx, 4))
        })
        .catch((reason: unknown) => reason)
      if (kind === 'refused by the server') expect(isUniqueViolation(error, 'things_pkey')).toBe(true)
      else expect(String((error as Error).cause ?? error)).toMatch(/unusable|Invalid time value/)
      expect(await numbers()).toEqual([1])
    },
  )

  it('are rolled back when the function throws later', async () => {
    const failing = db.transaction(async (tx, write) => {
      write(() => add(tx, 2))
      await tx.execute(sql`select 1`)
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await numbers()).toEqual([1])
  })

  it('report their own error when a later statement fails because of it', async () => {
    const error: unknown = await db
      .transaction(async (tx, write) => {
        write(() => add(tx, 1))
        await tx.execute(sql`select 1`)
      })
      .catch((reason: unknown) => reason)
    expect(isUniqueViolation(error, 'things_pkey')).toBe(true)
  })

  it('must send their statement immediately, or the transaction is rolled back', async () => {
    const failing = db.transaction(async (tx, write) => {
      write(() => add(tx, 2))
      write(async (executor) => executor.insert(things).values({ number: 3 }))
    })
    await expect(failing).rejects.toThrow('a write did not send one statement at once')
    expect(await numbers()).toEqual([1])
  })

  it('are rejected after the end of the transaction', async () => {
    const late = await db.transaction(async (tx) => () => add(tx, 2))
    await expect(late()).rejects.toMatchObject({
      cause: { message: 'a statement was sent after the end of its transaction' },
    })
    expect(await numbers()).toEqual([1])
  })
})

describe('writes that are left to the end of a transaction', () => {
  const entries = pgTable('entries', { place: serial('place').primaryKey(), name: text('name').notNull() })
  const insertEntry = prepareHere((executor) =>
    executor.insert(entries).values(placeholdersOf(entries, 'place')).prepare('entries_insert'),
  )
  const add = (name: string) => (executor: Executor) => insertEntry(executor).execute({ name })
  const names = async () => {
    const { rows } = await db.execute<{ name: string }>(sql`select name from entries order by place`)
    return rows.map((row) => row.name)
  }

  beforeEach(async () => {
    await db.execute(sql`drop table if exists entries`)
    await db.execute(sql`create table entries (place serial primary key, name text not null)`)
  })

  it('come behind all others, by their order, and then in that of the calls', async () => {
    await db.transaction(async (tx, write) => {
      await writeLast(tx, 'b', add('b1'))
      await writeLast(tx, 'a', add('a1'))
      write(add('first'))
      await writeLast(tx, 'b', add('b2'))
      await tx.execute(sql`insert into entries (name) values ('second')`)
      await writeLast(tx, 'a', add('a2'))
    })
    expect(await names()).toEqual(['first', 'second', 'a1', 'a2', 'b1', 'b2'])
  })

  it('are not sent when the transaction fails, nor in a later one on the same connection', async () => {
    for (let i = 0; i <= poolMax; i++) {
      const failing = db.transaction(async (tx) => {
        await writeLast(tx, 'a', add('never'))
        throw new Error('changed my mind')
      })
      await expect(failing).rejects.toThrow('changed my mind')
      await db.transaction((tx) => tx.execute(sql`select 1`))
    }
    expect(await names()).toEqual([])
  })

  it('roll the transaction back when they fail', async () => {
    const failing = db.transaction(async (tx, write) => {
      write(add('first'))
      await writeLast(tx, 'a', async (executor) => executor.execute(sql`select 1 / 0`))
    })
    await expect(failing).rejects.toThrow()
    expect(await names()).toEqual([])
  })

  it('are refused after the end, and sent at once outside of a transaction', async () => {
    const tx = await db.transaction(async (executor) => ({ executor }))
    expect(() => writeLast(tx.executor, 'a', add('late'))).toThrow('after the end of its transaction')
    await writeLast(db, 'a', add('at once'))
    expect(await names()).toEqual(['at once'])
  })
})

it('a transaction whose failure was caught is rolled back, and rejects', async () => {
  const failing = db.transaction(async (tx) => {
    await tx.execute(sql`select 1 / 0`).catch(() => undefined)
  })
  await expect(failing).rejects.toThrow('the transaction was rolled back')
})

it('statements sent together reject with the error of the first one', async () => {
  const error: unknown = await db
    .transaction((tx) =>
      together([
        tx.execute(sql`select 1 / 0`).execute(),
        tx.execute(sql`select 1`).execute(),
        tx.execute(sql`select 2`).execute(),
      ]),
    )
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ cause: { code: '22012' } })
})
