import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { expectError } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { countWaiting, untilWaiting } from '../support/until-waiting.ts'

const service = await startTestApp({
  environment: { DATABASE_URL: await clone(), REGISTRATION_LIMIT_PER_MINUTE: '0' },
})
const { app, db } = service
const { createAgent, createHost, getTokens } = createOAuthTester(service)

describe('costly requests', () => {
  it('of one person, and of their agents, are done two at once; those of others are not held up', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const { access_token: token } = await getTokens(await createAgent(), host)
    const list = (who: typeof host) => service.as(who, { url: `/v1/workspaces/${who.slug}/seeds` })
    const readKit = () =>
      app.inject({
        method: 'POST',
        url: '/agent/v1/validation-kit:read',
        headers: { authorization: `Bearer ${token}` },
      })
    const lock = await db.$client.connect()
    await lock.query('begin; lock table seeds in access exclusive mode')
    // A request that has its turn waits for the lock.
    const answers = [readKit()]
    await untilWaiting(service, 1)
    for (let i = 0; i < 4; i++) answers.push(list(host))
    await untilWaiting(service, 2)
    // Cheap requests of the same person do not wait for their turn.
    expect((await service.as(host, { url: '/v1/me' })).statusCode).toBe(200)
    answers.push(list(other))
    await untilWaiting(service, 3)
    await lock.query('rollback')
    lock.release()
    for (const { statusCode } of await Promise.all(answers)) expect(statusCode).toBe(200)
  })

  it('of a client that has left are not begun', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const url = `/v1/workspaces/${host.slug}/seeds`
    const lock = await db.$client.connect()
    onTestFinished(() => lock.release(true))
    await lock.query('begin; lock table seeds in access exclusive mode')
    const client = connect({ port: await listen(app), host: '127.0.0.1' })
    const [serverSide] = (await once(app.server, 'connection')) as [Socket]
    client.write(
      `GET ${url} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${host.apiKey}\r\n\r\n`.repeat(6),
    )
    await untilWaiting(service, 2)
    const sent = vi.spyOn(pg.Client.prototype, 'query')
    // It ends with an error, which `once` would reject with.
    const left = new Promise((resolve) => serverSide.once('close', resolve))
    client.resetAndDestroy()
    await left
    // Sent by now: `inject` sends when its result is awaited.
    const answer = service.as(other, { url: `/v1/workspaces/${other.slug}/seeds` }).then((result) => result)
    await untilWaiting(service, 3)
    await lock.query('rollback')
    expect((await answer).statusCode).toBe(200)
    const lists = sent.mock.calls.filter(([query]) => JSON.stringify(query).includes('from \\"seeds\\"'))
    sent.mockRestore()
    expect(lists).toHaveLength(1)
  })

  it('that fail give their turn to the next', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const url = `/v1/workspaces/${other.slug}/seeds`
    const refused = await Promise.all(Array.from({ length: 10 }, () => service.as(host, { url })))
    expect(new Set(refused.map(({ statusCode }) => statusCode))).toEqual(new Set([403]))
    expect((await service.as(host, { url: `/v1/workspaces/${host.slug}/seeds` })).statusCode).toBe(200)
  })
})

describe('changes of one workspace', () => {
  it('are made two at once, so that those who wait for its row leave connections to others', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const create = (who: typeof host, name: string) =>
      service.as(who, { method: 'POST', url: `/v1/workspaces/${who.slug}/teams`, payload: { name } })
    const lock = await db.$client.connect()
    onTestFinished(() => lock.release(true))
    await lock.query('begin')
    await lock.query('select 1 from workspaces where slug = $1 for update', [host.slug])
    // Sent by now: `inject` sends when its result is awaited.
    const answers = ['A', 'B', 'C', 'D'].map((name) => create(host, name).then((answer) => answer))
    await untilWaiting(service, 2)
    expect((await create(other, 'A')).statusCode).toBe(200)
    expect(await countWaiting(service)).toBeLessThanOrEqual(2)
    await lock.query('rollback')
    for (const answer of await Promise.all(answers)) {
      // On a slow machine some have waited for the lock in vain.
      if (answer.statusCode !== 200) expectError(answer, errors.databaseUnavailable)
    }
  })
})
