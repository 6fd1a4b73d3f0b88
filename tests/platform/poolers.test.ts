import { describe, expect, it, onTestFinished } from 'vitest'
import { areLimitsInForce, openDatabase, requestLimits } from '../../src/db/client.ts'
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
    const service = await startTestApp({ environment: { DATABASE_URL: url } })
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
    expectError(await service.app.inject('/ready'), errors.notReady)
    // The connection is replaced.
    const person = await service.createPerson()
    expect((await service.as(person, get('/v1/me'))).statusCode).toBe(200)
  })
})
