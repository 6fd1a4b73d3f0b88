import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, post } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { countWaiting, untilWaiting } from '../support/until-waiting.ts'

// Long enough for a busy machine: these tests hold locks while they send other requests.
const ms = 30_000
const service = await startTestApp({
  turns: { waitMsMax: ms },
  limits: { connectMs: ms, lockMs: ms, statementMs: ms },
  environment: { DATABASE_URL: await clone() },
})
const { app, db } = service
const { createAgent, createHost, getTokens, letIn } = createOAuthTester(service)

describe('expensive requests', () => {
  it('runs two requests of one user and their agents at a time, without delaying cheap requests or other users', async () => {
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
    // Written within a second, by statements that would wait for the lock of the next test.
    const isRecorded = async () =>
      (await service.as(host, { url: `/v1/workspaces/${host.slug}/events` })).body.includes(
        'integration.used',
      )
    await eventually(async () => expect(await isRecorded()).toBe(true))
  })

  it('does not start requests of a disconnected client', async () => {
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
    // Apps of earlier files have clients of the same class: only lists of these two workspaces count.
    const lists = sent.mock.calls
      .map((call) => JSON.stringify(call.slice(0, 2)))
      .filter((call) => call.includes('from \\"seeds\\"'))
      .flatMap((call) => [host, other].filter(({ workspaceId }) => call.includes(workspaceId)))
    sent.mockRestore()
    expect(lists).toEqual([other])
  })

  it('releases the turn of a request that fails', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const url = `/v1/workspaces/${other.slug}/seeds`
    const refused = await Promise.all(Array.from({ length: 10 }, () => service.as(host, { url })))
    expect(new Set(refused.map(({ statusCode }) => statusCode))).toEqual(new Set([403]))
    expect((await service.as(host, { url: `/v1/workspaces/${host.slug}/seeds` })).statusCode).toBe(200)
  })
})

describe('changes by one user', () => {
  it('runs two changes at a time, without delaying other users', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const rename = (who: typeof host, name: string) =>
      service.as(who, { method: 'PATCH', url: '/v1/me', payload: { name } })
    const lock = await db.$client.connect()
    onTestFinished(() => lock.release(true))
    await lock.query('begin')
    await lock.query('select 1 from users where id = $1 for update', [host.id])
    // Sent by now: `inject` sends when its result is awaited.
    const answers = ['A', 'B', 'C', 'D'].map((name) => rename(host, name).then((answer) => answer))
    await untilWaiting(service, 2)
    for (const name of ['A', 'B', 'C']) expect((await rename(other, name)).statusCode).toBe(200)
    expect(await countWaiting(service)).toBeLessThanOrEqual(2)
    await lock.query('rollback')
    for (const { statusCode } of await Promise.all(answers)) expect(statusCode).toBe(200)
  })

  it('lets 128 wait, and refuses more with 429, without delaying other users', async () => {
    const [host, other] = [await createHost(), await createHost()]
    const rename = (who: typeof host) =>
      service.as(who, { method: 'PATCH', url: '/v1/me', payload: { name: 'Busy' } }).then((answer) => answer)
    const lock = await db.$client.connect()
    onTestFinished(() => lock.release(true))
    await lock.query('begin')
    await lock.query('select 1 from users where id = $1 for update', [host.id])
    const answers = Array.from({ length: 140 }, () => rename(host))
    const refused = await new Promise<Awaited<ReturnType<typeof rename>>[]>((resolve) => {
      const done: Awaited<ReturnType<typeof rename>>[] = []
      for (const answer of answers)
        void answer.then((one) => {
          if (done.push(one) === 10) resolve([...done])
        })
    })
    for (const answer of refused) {
      expectError(answer, errors.tooManyAtOnce)
      expect(answer.headers['retry-after']).toBe('1')
    }
    expect((await rename(other)).statusCode).toBe(200)
    await lock.query('rollback')
    const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode)
    expect(statuses.filter((status) => status === 200)).toHaveLength(130)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  })

  it('does not make changes wait for a lock or a turn when they can change nothing', async () => {
    const company = await createCompany(service)
    const { owner, viewer, url } = company
    const { team } = (await service.as(owner, post(`${url}/teams`, { name: 'Busy' }))).json<{
      team: { id: string }
    }>()
    await letIn(company.workspace, viewer)
    const grants = await service.as(viewer, { url: `${url}/integrations` })
    const [{ id: grantId } = { id: '' }] = grants.json<{ id: string }[]>()
    await service.as(viewer, post(`${url}/integrations/${grantId}/revoke`))
    const lock = await db.$client.connect()
    onTestFinished(() => lock.release(true))
    await lock.query('begin; lock table teams, agent_grants in exclusive mode')
    const useless = [
      {
        status: 404,
        request: { method: 'DELETE' as const, url: `${url}/teams/${team.id}/members/${viewer.id}` },
      },
      { status: 404, request: post(`${url}/integrations/${createId()}/revoke`) },
      { status: 200, request: post(`${url}/integrations/${grantId}/revoke`) },
    ]
    for (const { status, request } of useless) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => service.as(viewer, request)))
      expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([status]))
    }
    await lock.query('rollback')
  })
})

describe('changes of one workspace', () => {
  it('runs two changes at a time, so that connections remain for other workspaces', async () => {
    const [{ owner, admin, workspace }, other] = [await createCompany(service), await createHost()]
    const create = (who: typeof owner, name: string, slug = workspace.slug) =>
      service.as(who, post(`/v1/workspaces/${slug}/teams`, { name }))
    const lock = await db.$client.connect()
    onTestFinished(() => lock.release(true))
    await lock.query('begin')
    await lock.query('select 1 from workspaces where slug = $1 for update', [workspace.slug])
    const answers = [owner, admin].flatMap((who) =>
      // Sent by now: `inject` sends when its result is awaited.
      [1, 2].map((number) => create(who, `${who.id} ${number}`).then((answer) => answer)),
    )
    await untilWaiting(service, 2)
    expect((await create(other, 'A', other.slug)).statusCode).toBe(200)
    expect(await countWaiting(service)).toBeLessThanOrEqual(2)
    await lock.query('rollback')
    for (const answer of await Promise.all(answers)) {
      // On a busy machine some have waited for their turn in the workspace in vain.
      if (answer.statusCode !== 200) expectError(answer, errors.tooManyAtOnce)
    }
  })
})
