import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase, requestLimits, shareOf, type Limits } from '../../src/db/client.ts'
import { isDatabaseUnavailable } from '../../src/db/errors.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { patientLimits } from '../support/patient-limits.ts'
import { clone, startTestApp } from '../support/test-app.ts'

/** A way to the database that can be frozen: what arrives is not passed on. */
async function openWay(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isFrozen = false
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      if (isFrozen) from.pause()
      from.on('error', () => undefined)
      from.on('data', (bytes) => to.write(bytes))
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
  }
}

describe('a database server that does not respond', () => {
  it('causes 503, and is used again as soon as it responds', async () => {
    const way = await openWay(await clone())
    const { as, createPerson } = await startTestApp({
      environment: { DATABASE_URL: way.url },
      limits: requestLimits,
    })
    const person = await createPerson()
    way.freeze()
    // More than there are connections: some wait for the answer, some for a connection, some for a new one.
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        as(
          person,
          i % 2 === 0
            ? { url: '/v1/workspaces' }
            : { method: 'POST', url: '/v1/api-keys', payload: { name: 'x' } },
        ),
      ),
    )
    for (const answer of answers) {
      expectError(answer, errors.databaseUnavailable)
      expect(answer.headers['retry-after']).toBe('5')
    }
    way.thaw()
    expect((await as(person, { url: '/v1/workspaces' })).statusCode).toBe(200)
  })
})

describe('a lock held by another session', () => {
  async function holdUp(limits: Limits) {
    const service = await startTestApp({ limits, environment: { DATABASE_URL: await clone() } })
    const company = await createCompany(service)
    const locker = new pg.Client({ connectionString: service.config.databaseUrl })
    await locker.connect()
    onTestFinished(() => locker.end())
    await locker.query('begin; lock table seeds in access exclusive mode')
    // As many as there are connections, and as many again; of several people, since those of one take turns.
    const people = [company.admin, company.member, company.viewer]
    const waiting = Array.from({ length: 20 }, (_, i) =>
      service.as(people[i % 3] ?? company.owner, { url: `${company.url}/seeds` }).then((answer) => answer),
    )
    return { ...service, company, waiting, release: () => locker.query('rollback') }
  }

  it('causes 503 after a limited wait', async () => {
    const { app, as, company, waiting, release } = await holdUp(requestLimits)
    for (const answer of await Promise.all(waiting)) {
      // The lock, or one's turn before it, was waited for in vain.
      expect([429, 503]).toContain(answer.statusCode)
      expect(answer.headers['retry-after']).toMatch(/^[1-9]$/)
    }
    await release()
    expect((await as(company.owner, { url: `${company.url}/seeds` })).statusCode).toBe(200)
    expect((await app.inject('/ready')).statusCode).toBe(200)
  })

  it('does not block requests that do not need it', async () => {
    const { as, company, waiting, release } = await holdUp(patientLimits)
    for (const url of ['/v1/me', company.url, `${company.url}/members`, `${company.url}/teams`])
      expect((await as(company.owner, { url })).statusCode, url).toBe(200)
    await release()
    for (const { statusCode } of await Promise.all(waiting)) expect(statusCode).toBe(200)
  })
})

describe('a database connection', () => {
  const open = async (poolMax: number) => {
    const db = openDatabase({
      url: await clone(),
      poolMax,
      limits: requestLimits,
      onIdleError: () => undefined,
    })
    onTestFinished(() => db.$client.end())
    return db
  }
  const failureOf = (run: PromiseLike<unknown>) =>
    Promise.resolve(run).then(
      () => undefined,
      (error: unknown) => error,
    )

  it('is closed when its server is read-only', async () => {
    const db = await open(1)
    const pidOf = async () =>
      (await db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)).rows[0]?.pid
    const before = await pidOf()
    await db.execute(sql`set default_transaction_read_only = on`)
    // In a transaction: after a statement without one the pool gives up the connection by itself.
    const failure = await failureOf(db.transaction((tx) => tx.execute(sql`create table things ()`)))
    expect(isDatabaseUnavailable(failure)).toBe(true)
    expect(await pidOf()).not.toBe(before)
  })

  it('cancels a statement after the time limit, and can be used afterwards', async () => {
    const db = await open(1)
    expect(isDatabaseUnavailable(await failureOf(db.execute(sql`select pg_sleep(30)`)))).toBe(true)
    expect((await db.execute(sql`select 1 as one`)).rows).toEqual([{ one: 1 }])
  })

  it('remains for other work, since one kind of work uses at most half of the pool', async () => {
    const db = await open(4)
    const share = shareOf(db)
    const sleeping = Array.from({ length: 4 }, () => failureOf(share.execute(sql`select pg_sleep(2)`)))
    let ended = 0
    for (const each of sleeping) void each.then(() => (ended += 1))
    await shareOf(db).execute(sql`select 1`)
    expect(ended).toBe(0)
    // Two slept; the other two waited for their turn in vain.
    const failures = await Promise.all(sleeping)
    expect(failures.map((failure) => failure !== undefined && isDatabaseUnavailable(failure))).toEqual([
      false,
      false,
      true,
      true,
    ])
    await share.transaction(async (tx) => tx.execute(sql`select 1`))
    await Promise.all(Array.from({ length: 6 }, () => share.execute(sql`select 1`)))
  })
})

describe('a database in the middle of a restore', () => {
  it.each([
    ['alter table users rename to users_away', 'alter table users_away rename to users'],
    ['alter schema public rename to away', 'alter schema away rename to public'],
  ])('answers 503 until its tables are there again: %s', async (remove, restore) => {
    const service = await startTestApp({ environment: { DATABASE_URL: await clone() } })
    const company = await createCompany(service)
    const ask = () => service.as(company.owner, { url: company.url })
    expect((await ask()).statusCode).toBe(200)
    await service.db.execute(sql.raw(remove))
    const answer = await ask()
    expectError(answer, errors.databaseUnavailable)
    expect(answer.headers['retry-after']).toBe('5')
    await service.db.execute(sql.raw(restore))
    expect((await ask()).statusCode).toBe(200)
  })
})

describe('each database time limit', () => {
  const unlimited: Limits = { connectMs: 20_000, lockMs: 20_000, statementMs: 20_000 }
  const openWith = (url: string, limits: Partial<Limits>) => {
    const db = openDatabase({
      url,
      poolMax: 1,
      limits: { ...unlimited, ...limits },
      onIdleError: () => undefined,
    })
    onTestFinished(() => db.$client.end())
    return db
  }

  it('lockMs ends the wait for a lock', async () => {
    const url = await clone()
    const locker = new pg.Client({ connectionString: url })
    await locker.connect()
    onTestFinished(() => locker.end())
    await locker.query('begin; lock table seeds in access exclusive mode')
    const run = openWith(url, { lockMs: 50 }).execute(sql`select 1 from seeds`)
    await expect(run).rejects.toMatchObject({ cause: { code: '55P03' } })
  })

  it('statementMs cancels a statement', async () => {
    const run = openWith(await clone(), { statementMs: 50 }).execute(sql`select pg_sleep(10)`)
    await expect(run).rejects.toMatchObject({ cause: { code: '57014' } })
  })

  it('connectMs ends an attempt to connect', async () => {
    const way = await openWay(await clone())
    way.freeze()
    const run = openWith(way.url, { connectMs: 50 }).execute(sql`select 1`)
    await expect(run).rejects.toMatchObject({
      cause: { message: expect.stringContaining('timeout') as string },
    })
  })
})
