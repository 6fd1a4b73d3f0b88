import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { areLimitsInForce, openDatabase, requestLimits } from '../../src/db/client.ts'
import { keepsSessions } from '../../src/db/inspect-database.ts'
import { isDatabaseUnavailable } from '../../src/db/errors.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, post } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.ts'
import { clone, startTestApp } from '../support/test-app.ts'

const databaseUrl = await clone()

describe.runIf(hasPgbouncer)('PgBouncer in session mode', () => {
  it('serves requests and changes, with the timeouts of the service', async () => {
    const { url, stop } = await startPgbouncer(databaseUrl, 'session')
    onTestFinished(stop)
    const service = await startTestApp({ environment: { DATABASE_URL: url }, limits: requestLimits })
    expect(await areLimitsInForce(service.db, requestLimits)).toBe(true)
    const company = await createCompany(service)
    const { owner, url: path } = company
    expect((await service.as(owner, post(`${path}/teams`, { name: 'Through a pooler' }))).statusCode).toBe(
      200,
    )
    expect((await service.as(owner, get(`${path}/teams`))).json()).toHaveLength(1)
    expect((await service.app.inject('/ready')).statusCode).toBe(200)
    await service.close()
  })
})

describe.runIf(hasPgbouncer)('PgBouncer in transaction mode', () => {
  const open = async () => {
    const { url, stop } = await startPgbouncer(databaseUrl, 'transaction')
    onTestFinished(stop)
    return url
  }
  const limits = { ...requestLimits, lockMs: 700, statementMs: 800 }
  const openDb = (url: string) => {
    const db = openDatabase({ url, pooler: 'transaction', poolMax: 2, limits, onIdleError: () => undefined })
    onTestFinished(() => db.$client.end())
    return db
  }

  it('serves requests and changes, many at once over few connections, and runs jobs', async () => {
    const url = await open()
    const environment = {
      DATABASE_URL: url,
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: databaseUrl,
    }
    const service = await startTestApp({ environment, limits: requestLimits })
    const { owner, url: path } = await createCompany(service)
    const names = Array.from({ length: 40 }, (_, i) => `Team ${i}`)
    const answers = await Promise.all(
      names.flatMap((name) => [
        service.as(owner, post(`${path}/teams`, { name })),
        service.as(owner, get(path)),
      ]),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200))
    expect((await service.as(owner, get(`${path}/teams`))).json()).toHaveLength(40)
    await service.services.startJobs()
    await service.services.credentials.requestLink('sign_in', owner.email, { requestId: 'a request' })
    await expect.poll(() => service.services.jobOperations.count()).toMatchObject({ ready: 0 })
    expect((await service.app.inject('/ready')).statusCode).toBe(200)
    await service.close()
  })

  it('has the timeouts of the service in a transaction, and leaves none behind', async () => {
    const db = openDb(await open())
    const read = sql`select current_setting('statement_timeout') as s, current_setting('lock_timeout') as l`
    const inside = await db.transaction((tx) => tx.execute(read))
    expect(inside.rows).toEqual([{ s: '800ms', l: '700ms' }])
    // Of connect_query.
    expect((await db.execute(read)).rows).toEqual([{ s: '2500ms', l: '1500ms' }])
    await expect(db.transaction((tx) => tx.execute(sql`select pg_sleep(10)`))).rejects.toMatchObject({
      cause: { code: '57014' },
    })
    expect(await areLimitsInForce(db, requestLimits)).toBe(true)
  })

  it('keeps no sessions, which a direct connection does', async () => {
    const url = await open()
    const db = openDb(url)
    expect(await keepsSessions(db.$client)).toBe(false)
    const direct = openDatabase({ url: databaseUrl, poolMax: 2, limits, onIdleError: () => undefined })
    onTestFinished(() => direct.$client.end())
    expect(await keepsSessions(direct.$client)).toBe(true)
  })
})

describe('the timeouts of database connections', () => {
  it('apply to each connection', async () => {
    const db = openDatabase({
      url: databaseUrl,
      poolMax: 1,
      limits: { ...requestLimits, statementMs: 100 },
      onIdleError: () => undefined,
    })
    onTestFinished(() => db.$client.end())
    expect(await areLimitsInForce(db, { ...requestLimits, statementMs: 100 })).toBe(true)
    expect(await areLimitsInForce(db, requestLimits)).toBe(false)
    await expect(db.$client.query('select pg_sleep(10)')).rejects.toMatchObject({ code: '57014' })
  })
})

describe('a pooler that loses prepared statements, as in transaction mode', () => {
  it('makes /ready return 503, and the connection is replaced', async () => {
    const service = await startTestApp({ environment: { DATABASE_URL: databaseUrl } })
    expect((await service.app.inject('/ready')).statusCode).toBe(200)
    const client = await service.db.$client.connect()
    // It ends with an error, which `once` would reject with.
    const ended = new Promise((resolve) => client.once('end', resolve))
    const statement = { name: 'prepared', text: 'select 1' }
    await client.query(statement)
    await client.query('deallocate all')
    const lost = await client.query(statement).catch((error: unknown) => error)
    await ended
    client.release(true)
    expect(isDatabaseUnavailable(lost)).toBe(true)
    expectError(await service.app.inject('/ready'), errors.notReady, {
      message: 'The database is not migrated.',
    })
    // The connection is replaced.
    const person = await service.createPerson()
    expect((await service.as(person, get('/v1/me'))).statusCode).toBe(200)
  })
})
