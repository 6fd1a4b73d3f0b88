import { connect } from 'node:net'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { overloadDefaults } from '../../src/http/limits/overload.ts'
import { errors } from '../../src/kernel/errors.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { listen } from '../support/raw-http.ts'
import { clone, startTestApp } from '../support/test-app.ts'

const { app, as, config, createPerson, log } = await startTestApp({
  environment: { DATABASE_URL: await clone(), REQUESTS_AT_ONCE_MAX: '2' },
  overload: overloadDefaults,
})
const person = await createPerson()

/** Holds up whoever asks for the workspaces of a person, until it is released. */
async function holdUp(): Promise<() => Promise<void>> {
  const locker = new pg.Client({ connectionString: config.databaseUrl })
  await locker.connect()
  onTestFinished(() => locker.end())
  await locker.query('begin; lock table memberships in access exclusive mode')
  return async () => {
    await locker.query('rollback')
  }
}

describe('requests above REQUESTS_AT_ONCE_MAX', () => {
  it('refuses a caller who has many with 429, everybody with 503 at twice the limit, logs it once, and still serves /health and /ready', async () => {
    const [other, another, third] = [await createPerson(), await createPerson(), await createPerson()]
    const release = await holdUp()
    const accepted = ['/v1/workspaces', '/v1/workspaces'].map((url) =>
      as(person, { url }).then((answer) => answer),
    )
    // Until they have been worked on for a while, they are a burst.
    let refused = await as(person, { url: '/v1/me' })
    await eventually(async () => {
      refused = await as(person, { url: '/v1/me' })
      expect(refused.statusCode).toBe(429)
    })
    expectError(refused, errors.tooManyAtOnce)
    expect(refused.headers['retry-after']).toBe('1')
    // Others, who have nothing there, are taken all the same.
    expect((await as(other, { url: '/v1/me' })).statusCode).toBe(200)
    // At twice the limit everybody is refused, but not those who ask whether the process lives.
    const further = [other, another].map((one) => as(one, { url: '/v1/workspaces' }).then((answer) => answer))
    accepted.push(...further)
    await eventually(async () => expectError(await as(third, { url: '/v1/me' }), errors.overloaded))
    expect((await app.inject('/health')).statusCode).toBe(200)
    expect((await app.inject('/ready')).statusCode).toBe(200)
    await release()
    for (const { statusCode } of await Promise.all(accepted)) expect(statusCode).toBe(200)
    expect((await as(person, { url: '/v1/me' })).statusCode).toBe(200)
    expect(log.join('').match(/overload: requests are refused/g)).toHaveLength(1)
    expect(log.join('')).toContain('overload ended')
  })

  it('does not count requests whose bodies have not arrived yet', async () => {
    const service = await startTestApp({
      environment: { DATABASE_URL: String(config.databaseUrl), REQUESTS_AT_ONCE_MAX: '2' },
      // No burst is accepted.
      overload: { keepsUpMs: 0 },
    })
    const port = await listen(service.app)
    for (let i = 0; i < 4; i++) {
      const socket = connect(port, '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      socket.write(
        `PATCH /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${person.apiKey}\r\nExpect: 100-continue\r\n` +
          'Content-Type: application/json\r\nContent-Length: 20\r\n\r\n',
      )
      // The answer to the expectation: the request has come this far. While its key is looked up, it counts.
      await new Promise((resolve) => socket.once('data', resolve))
      await eventually(async () => expect((await service.as(person, { url: '/v1/me' })).statusCode).toBe(200))
      expect(socket.destroyed).toBe(false)
    }
  })

  it('accepts up to ten times the limit while the process responds in time', async () => {
    const service = await startTestApp({
      environment: { DATABASE_URL: String(config.databaseUrl), REQUESTS_AT_ONCE_MAX: '2' },
      overload: { keepsUpMs: 60_000 },
    })
    const release = await holdUp()
    const taken = Array.from({ length: 20 }, () =>
      service.as(person, { url: '/v1/workspaces' }).then((answer) => answer),
    )
    // The one on top of them.
    await eventually(async () => expectError(await service.as(person, { url: '/v1/me' }), errors.overloaded))
    await release()
    for (const answer of await Promise.all(taken)) {
      // Some have waited for a connection, or for the lock, in vain.
      if (answer.statusCode !== 200) expectError(answer, errors.databaseUnavailable)
    }
    expect((await service.as(person, { url: '/v1/me' })).statusCode).toBe(200)
  })
})
