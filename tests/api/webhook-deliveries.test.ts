import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { Description } from '../../scripts/description.ts'
import type { webhookRequests } from '../../src/areas/webhooks/webhooks.schemas.ts'
import { createCompany, createTeam, get, patch, post, type TestCompany } from '../support/company.ts'
import { errors } from '../../src/kernel/errors.ts'
import { expectError } from '../support/expect-error.ts'
import { eventually } from '../support/eventually.ts'
import { createSeed } from '../support/seeds.ts'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { isSignedBy, startReceiver, type ReceivedRequest } from '../support/webhook-receiver.ts'
import { createWebhook, findFaultsOfMessage, type TestWebhook } from '../support/webhooks.ts'
import { findEvents } from '../support/workspaces.ts'

const hour = 60 * 60 * 1000
const day = 24 * hour

const clock = createTestClock()
const deliveries = { pollEveryMs: 20, random: () => 0 }
const environment = { DATABASE_URL: await clone() }
const service = await startTestApp({ clock, deliveries, environment })
const { as, db } = service
await service.services.startJobs()

const description = service.app.swagger() as unknown as Description & { webhooks: typeof webhookRequests }

interface Payload {
  type: string
  timestamp: string
  data: { id: string; type: string; createdAt: string }
  cursor: string
}

const payloadOf = ({ body }: ReceivedRequest) => JSON.parse(body) as Payload

interface Delivery {
  id: string
  type: string
  status: string
  attempts: number
  lastStatus: number | null
  lastError: string | null
  nextAttemptAt: string | null
  deliveredAt: string | null
}

async function listDeliveries({ owner }: TestCompany, { path }: TestWebhook): Promise<Delivery[]> {
  return (await as(owner, get(`${path}/deliveries?limit=200`))).json<Delivery[]>()
}

/** Waits until the newest delivery of a webhook is as expected. */
function untilDelivery(company: TestCompany, webhook: TestWebhook, expected: Partial<Delivery>) {
  return eventually(async () => {
    const [delivery] = await listDeliveries(company, webhook)
    expect(delivery).toMatchObject(expected)
    if (!delivery) throw new Error('there is no delivery')
    return delivery
  })
}

const readWebhook = async ({ owner }: TestCompany, { path }: TestWebhook) =>
  (await as(owner, get(path))).json<Record<string, unknown>>()

/** A workspace with a webhook that gets new teams only. */
async function startWebhook(types = ['team.created']) {
  const company = await createCompany(service)
  const receiver = await startReceiver()
  const webhook = await createWebhook(service, company.owner, company, { url: receiver.url, types })
  const makeTeam = () => createTeam(service, company.owner, company)
  return { company, receiver, webhook, makeTeam }
}

describe('a delivery', () => {
  it('is a signed request with the event as events.get returns it', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    await makeTeam()
    const [request] = await receiver.waitFor(1)
    if (!request) throw new Error('there is no request')
    expect(isSignedBy(request, webhook.secret)).toBe(true)
    const payload = payloadOf(request)
    expect(payload).toEqual({
      type: 'team.created',
      timestamp: clock.now().toISOString(),
      data: (await as(company.owner, get(`${company.url}/events/${payload.data.id}`))).json<object>(),
      cursor: expect.any(String) as string,
    })
    const { post: described } = description.webhooks.event
    expect(findFaultsOfMessage(service, payload)).toEqual([])
    const names = described.parameters.map(({ name }) => name)
    expect(
      Object.keys(request.headers)
        .filter((name) => name.startsWith('webhook-'))
        .toSorted(),
    ).toEqual(names.toSorted())
    const feed = (after: string) => as(company.owner, get(`${company.url}/events/changes?after=${after}`))
    expect((await feed(payload.cursor)).json()).toMatchObject({ events: [], cursor: payload.cursor })
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook',
      headers: {
        'content-type': 'application/json',
        'webhook-id': payload.data.id,
        'webhook-endpoint-id': webhook.id,
        'webhook-workspace-id': company.workspace.id,
        'webhook-timestamp': String(Math.floor(clock.now().getTime() / 1000)),
      },
    })
    const delivery = await untilDelivery(company, webhook, { status: 'delivered' })
    expect(delivery).toEqual({
      id: payload.data.id,
      eventId: payload.data.id,
      type: 'team.created',
      status: 'delivered',
      attempts: 1,
      lastStatus: 204,
      lastError: null,
      nextAttemptAt: null,
      createdAt: payload.timestamp,
      deliveredAt: clock.now().toISOString(),
    })
    expect(await readWebhook(company, webhook)).toMatchObject({
      lastDeliveryAt: clock.now().toISOString(),
      lastFailureAt: null,
    })
  })

  it('has the name that an event has when it is sent', async () => {
    const { company, receiver, makeTeam } = await startWebhook()
    receiver.answer((response) => response.writeHead(500).end())
    await makeTeam()
    await receiver.waitFor(1)
    await db.execute(
      sql`update events set actor_name = 'Deleted user', summary = 'Deleted user created a team'
        where workspace_id = ${company.workspace.id}`,
    )
    receiver.answer((response) => response.writeHead(204).end())
    clock.advance(6_000)
    const [, second] = await receiver.waitFor(2)
    expect(second?.body).toContain('Deleted user')
    expect(second?.body).not.toContain('Olga')
  })

  it('is made for all events without types, for chosen types, and for each webhook', async () => {
    const { company, receiver, webhook } = await startWebhook([])
    const [seeds, none] = [await startReceiver(), await startReceiver()]
    await createWebhook(service, company.owner, company, { url: seeds.url, types: ['seed.created'] })
    await createWebhook(service, company.owner, company, { url: none.url, types: ['team.deleted'] })
    await createTeam(service, company.owner, company)
    await createSeed(service, company.member, company)
    await receiver.waitFor(5)
    await seeds.waitFor(1)
    const types = (await listDeliveries(company, webhook)).map(({ type }) => type)
    expect(types.toSorted()).toEqual([
      'seed.created',
      'team.created',
      'webhook.created',
      'webhook.created',
      'webhook.created',
    ])
    expect(seeds.received.map((request) => payloadOf(request).type)).toEqual(['seed.created'])
    expect(none.received).toEqual([])
  })

  it('is not made for the events of another workspace, or while the webhook is disabled', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    const other = await createCompany(service)
    await createTeam(service, other.owner, other)
    await as(company.owner, patch(webhook.path, { status: 'disabled' }))
    await makeTeam()
    expect(await listDeliveries(company, webhook)).toEqual([])
    await as(company.owner, patch(webhook.path, { status: 'active' }))
    await makeTeam()
    await receiver.waitFor(1)
    expect(await listDeliveries(company, webhook)).toHaveLength(1)
  })

  it('is made for the events of the service and of deleted people, too', async () => {
    const { company, receiver } = await startWebhook(['member.removed'])
    await service.services.accounts.delete(company.viewer.id, { withWorkspaces: false })
    const [request] = await receiver.waitFor(1)
    expect(request?.body).toContain('account was deleted')
    expect(request?.body).not.toContain('Vera')
  })
})

describe('a failed attempt', () => {
  it('is repeated with the same id and another timestamp, until it succeeds', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    receiver.answer((response) => response.writeHead(500).end('secret of the receiver'))
    await makeTeam()
    const first = await untilDelivery(company, webhook, { status: 'pending', attempts: 1 })
    expect(first).toMatchObject({ lastStatus: 500, lastError: 'status', deliveredAt: null })
    expect(Date.parse(String(first.nextAttemptAt)) - clock.now().getTime()).toBe(5_000)
    expect(JSON.stringify(first)).not.toContain('secret')
    clock.advance(5_000)
    await untilDelivery(company, webhook, { status: 'pending', attempts: 2 })
    receiver.answer((response) => response.writeHead(200).end())
    clock.advance(5 * 60_000)
    await untilDelivery(company, webhook, { status: 'delivered', attempts: 3, lastError: null })
    expect(receiver.received).toHaveLength(3)
    const values = (name: string) => new Set(receiver.received.map(({ headers }) => headers[name]))
    expect(values('webhook-id').size).toBe(1)
    expect(values('webhook-timestamp').size).toBe(3)
    for (const request of receiver.received) expect(isSignedBy(request, webhook.secret)).toBe(true)
    expect(await readWebhook(company, webhook)).toMatchObject({ status: 'active' })
  })

  it('is the last one after ten, and the webhook is disabled when nothing was delivered for three days', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    receiver.answer((response) => response.writeHead(500).end())
    await makeTeam()
    const pauses = [0, 5_000, 300_000, hour / 2, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour]
    for (const [i, pause] of pauses.entries()) {
      clock.advance(pause)
      await untilDelivery(company, webhook, { status: 'pending', attempts: i + 1 })
      expect(await readWebhook(company, webhook)).toMatchObject({ status: 'active' })
    }
    clock.advance(day)
    await untilDelivery(company, webhook, { status: 'failed', attempts: 10, nextAttemptAt: null })
    await eventually(async () =>
      expect(await readWebhook(company, webhook)).toMatchObject({
        status: 'disabled',
        disabledReason: 'failing',
      }),
    )
    expect((await findEvents(service, company.workspace)).at(-1)).toMatchObject({
      type: 'webhook.disabled',
      actor_type: 'system',
      source: 'system',
      target_id: webhook.id,
      summary: expect.stringMatching(
        /^The service disabled the webhook to 127\.0\.0\.1:\d+, because nothing could be delivered for three days$/,
      ) as string,
    })
    const { length } = receiver.received
    await makeTeam()
    expect(await listDeliveries(company, webhook)).toHaveLength(1)
    expect(receiver.received).toHaveLength(length)
  })

  it('does not disable a webhook to which something was delivered meanwhile', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    receiver.answer((response) => response.writeHead(500).end())
    await makeTeam()
    await untilDelivery(company, webhook, { attempts: 1 })
    receiver.answer((response, { headers }) =>
      response
        .writeHead(headers['webhook-id'] === receiver.received[0]?.headers['webhook-id'] ? 500 : 200)
        .end(),
    )
    // Before the clock is set, which would make the next attempt due.
    await db.execute(sql`update webhook_deliveries set next_attempt_at = ${new Date(clock.now().getTime() + 5 * day).toISOString()}
      where webhook_id = ${webhook.id}`)
    clock.advance(4 * day)
    await makeTeam()
    await untilDelivery(company, webhook, { status: 'delivered' })
    clock.advance(day)
    await receiver.waitFor(3)
    await eventually(async () =>
      expect((await listDeliveries(company, webhook)).at(-1)).toMatchObject({ attempts: 2 }),
    )
    expect(await readWebhook(company, webhook)).toMatchObject({ status: 'active' })
  })

  it.each([
    ['refused', 'http://127.0.0.1:1/hook'],
    ['tls', undefined],
  ])('is %s, and says nothing of the cause', async (error, url) => {
    const company = await createCompany(service)
    const receiver = await startReceiver()
    const webhook = await createWebhook(service, company.owner, company, {
      url: url ?? receiver.url.replace('http:', 'https:'),
      types: ['team.created'],
    })
    await createTeam(service, company.owner, company)
    await untilDelivery(company, webhook, { attempts: 1, lastStatus: null, lastError: error })
  })

  it('is recorded when the secret cannot be read any more', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    await db.execute(sql`update webhooks set sealed_secret = '\\x00' where id = ${webhook.id}`)
    await makeTeam()
    await untilDelivery(company, webhook, { attempts: 1, lastError: 'secret_unreadable' })
    expect(receiver.received).toEqual([])
  })
})

describe('a receiver that answers 410', () => {
  it('gets nothing more: the webhook is disabled with an event, and the owners get a mail', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    receiver.answer((response) => response.writeHead(410).end())
    await makeTeam()
    await untilDelivery(company, webhook, { status: 'failed', attempts: 1, lastStatus: 410 })
    expect(await readWebhook(company, webhook)).toMatchObject({
      status: 'disabled',
      disabledReason: 'gone',
      lastFailureAt: clock.now().toISOString(),
    })
    expect((await findEvents(service, company.workspace)).at(-1)).toMatchObject({
      type: 'webhook.disabled',
      summary: expect.stringContaining('because its receiver answered 410 Gone') as string,
    })
  })
})

describe('a receiver with too much to do', () => {
  it('gets one request at a time after the pause that it asks for', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    receiver.answer((response) => response.writeHead(429, { 'retry-after': '60' }).end())
    await makeTeam()
    await untilDelivery(company, webhook, { attempts: 1, lastStatus: 429 })
    await makeTeam()
    await makeTeam()
    clock.advance(59_000)
    // Another webhook shows that claims went on.
    const other = await startWebhook()
    await other.makeTeam()
    await other.receiver.waitFor(1)
    expect(receiver.received).toHaveLength(1)
    const open: (() => void)[] = []
    receiver.answer((response) => open.push(() => response.writeHead(204).end()))
    clock.advance(1_000)
    await receiver.waitFor(2)
    await other.makeTeam()
    await other.receiver.waitFor(2)
    expect(receiver.inProgress.now).toBe(1)
    receiver.answer((response) => response.writeHead(204).end())
    open[0]?.()
    await receiver.waitFor(4)
    await untilDelivery(company, webhook, { status: 'delivered' })
  })
})

describe('a paused webhook', () => {
  /** A webhook whose receiver asked for an hour, with a delivery that waits for it, and is well again. */
  async function startPaused(format?: string) {
    const company = await createCompany(service)
    const receiver = await startReceiver()
    const webhook = await createWebhook(service, company.owner, company, {
      url: receiver.url,
      types: ['team.created'],
      ...(format !== undefined && { format }),
    })
    receiver.answer((response) => response.writeHead(429, { 'retry-after': '3600' }).end())
    const since = clock.now().toISOString()
    await createTeam(service, company.owner, company)
    await untilDelivery(company, webhook, { attempts: 1, lastStatus: 429 })
    const until = new Date(clock.now().getTime() + hour).toISOString()
    receiver.answer((response) => response.writeHead(204).end())
    clock.advance(10 * 60_000)
    await createTeam(service, company.owner, company)
    return { company, receiver, webhook, since, until }
  }
  const whole = { pausedUntil: null, pauseReason: null }
  const resume = ({ owner }: TestCompany, { path }: TestWebhook) => as(owner, post(`${path}/resume`))
  const countResumed = async ({ workspace }: TestCompany) =>
    (await findEvents(service, workspace)).filter(({ type }) => type === 'webhook.resumed').length

  it('says until when, why and since when it fails, and its deliveries are due after that', async () => {
    const { company, webhook, since, until } = await startPaused()
    expect(await readWebhook(company, webhook)).toMatchObject({
      ...{ status: 'active', pausedUntil: until, pauseReason: 'retry_after', failingSince: since },
    })
    expect((await listDeliveries(company, webhook)).map(({ nextAttemptAt }) => nextAttemptAt)).toEqual([
      until,
      until,
    ])
    clock.advance(50 * 60_000)
    await untilDelivery(company, webhook, { status: 'delivered' })
    await eventually(async () =>
      expect(await readWebhook(company, webhook)).toMatchObject({ ...whole, failingSince: null }),
    )
  })

  it('says that its receiver has too much to do, and is not paused while it is disabled', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    receiver.answer((response) => response.writeHead(502).end())
    await makeTeam()
    await untilDelivery(company, webhook, { attempts: 1, lastStatus: 502 })
    expect(await readWebhook(company, webhook)).toMatchObject({ pauseReason: 'overloaded' })
    await db.execute(sql`update webhooks set disabled_reason = 'gone' where id = ${webhook.id}`)
    expect(await readWebhook(company, webhook)).toMatchObject(whole)
    expectError(await resume(company, webhook), errors.webhookDisabled)
  })

  it('is resumed, once', async () => {
    const { company, webhook } = await startPaused()
    expect((await resume(company, webhook)).json()).toEqual({ ok: true })
    await untilDelivery(company, webhook, { status: 'delivered' })
    expect(await readWebhook(company, webhook)).toMatchObject(whole)
    expect((await resume(company, webhook)).json()).toEqual({ ok: true })
    expect(await countResumed(company)).toBe(1)
  })

  it.each(['redeliver', 'redeliverSince', 'test', 'sample'])('is resumed by %s', async (way) => {
    const { company, webhook, since } = await startPaused()
    const [, oldest] = await listDeliveries(company, webhook)
    const requests: Record<string, [path: string, body?: object]> = {
      redeliver: [`/deliveries/${oldest?.id}/redeliver`],
      redeliverSince: ['/redeliver', { since }],
      test: ['/test'],
      sample: ['/sample', { type: 'team.created' }],
    }
    const [path, body] = requests[way] ?? ['']
    expect((await as(company.owner, post(`${webhook.path}${path}`, body))).statusCode).toBe(200)
    await untilDelivery(company, webhook, { status: 'delivered' })
    expect(await readWebhook(company, webhook)).toMatchObject(whole)
  })

  it('stays paused after a test that fails', async () => {
    const { company, receiver, webhook, until } = await startPaused()
    receiver.answer((response) => response.writeHead(500).end())
    await as(company.owner, post(`${webhook.path}/test`))
    expect(await readWebhook(company, webhook)).toMatchObject({ pausedUntil: until })
  })

  it('is not what a chat is for a minute after a message, which a test does not end', async () => {
    const { company, receiver, webhook } = await startPaused('slack')
    await resume(company, webhook)
    await untilDelivery(company, webhook, { status: 'delivered' })
    await createTeam(service, company.owner, company)
    expect(await readWebhook(company, webhook)).toMatchObject(whole)
    await as(company.owner, post(`${webhook.path}/test`))
    const nextAttemptAt = new Date(clock.now().getTime() + 60_000).toISOString()
    expect((await listDeliveries(company, webhook))[0]).toMatchObject({ status: 'pending', nextAttemptAt })
    expect(receiver.received).toHaveLength(3)
  })
})

describe('concurrent requests', () => {
  it('are at most four for a webhook, of all processes, and a dead receiver does not delay another', async () => {
    const other = await startTestApp({ clock, deliveries, environment })
    await other.services.startJobs()
    const { receiver, makeTeam } = await startWebhook()
    const open: (() => void)[] = []
    receiver.answer((response) => open.push(() => response.writeHead(204).end()))
    for (let i = 0; i < 10; i++) await makeTeam()
    await receiver.waitFor(4)
    const healthy = await startWebhook()
    await healthy.makeTeam()
    await healthy.receiver.waitFor(1)
    expect(receiver.received).toHaveLength(4)
    while (receiver.received.length < 10 || open.length > 0) {
      await eventually(() => expect(open.length).toBeGreaterThan(0))
      open.shift()?.()
    }
    expect(receiver.inProgress.most).toBe(4)
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(10)
    await other.close()
  })
})

describe('an interrupted attempt', () => {
  it('is repeated after its lease', async () => {
    const { company, receiver, webhook, makeTeam } = await startWebhook()
    await as(company.owner, patch(webhook.path, { status: 'disabled' }))
    await as(company.owner, patch(webhook.path, { types: ['team.created'] }))
    await as(company.owner, patch(webhook.path, { status: 'active' }))
    // As a process leaves it that is killed while it sends.
    await service.db
      .execute(sql`update webhooks set paused_until = ${new Date(clock.now().getTime() + 1000).toISOString()}
      where id = ${webhook.id}`)
    await makeTeam()
    await service.db.execute(sql`update webhook_deliveries
      set leased_until = ${new Date(clock.now().getTime() + 60_000).toISOString()} where webhook_id = ${webhook.id}`)
    clock.advance(59_000)
    const other = await startWebhook()
    await other.makeTeam()
    await other.receiver.waitFor(1)
    expect(receiver.received).toEqual([])
    clock.advance(1_000)
    await receiver.waitFor(1)
    await untilDelivery(company, webhook, { status: 'delivered', attempts: 1 })
  })

  it('is given back when the process stops, and another process repeats it at once', async () => {
    const environmentOfTwo = { DATABASE_URL: await clone() }
    const options = {
      clock,
      environment: environmentOfTwo,
      deliveries: { pollEveryMs: 20, stopWithinMs: 50 },
    }
    const [first, second] = [await startTestApp(options), await startTestApp(options)]
    await first.services.startJobs()
    const company = await createCompany(first)
    const receiver = await startReceiver()
    receiver.answer(() => undefined)
    await createWebhook(first, company.owner, company, { url: receiver.url, types: ['team.created'] })
    await createTeam(first, company.owner, company)
    await receiver.waitFor(1)
    await first.close()
    expect(
      await selectRows(second.db, sql`select status, attempts, leased_until from webhook_deliveries`),
    ).toEqual([{ status: 'pending', attempts: 0, leased_until: null }])
    receiver.answer((response) => response.writeHead(204).end())
    await second.services.startJobs()
    await receiver.waitFor(2)
    expect(receiver.received[1]?.headers['webhook-id']).toBe(receiver.received[0]?.headers['webhook-id'])
  })

  it('ends by itself when the receiver answers while the process stops', async () => {
    const environmentOfOne = { DATABASE_URL: await clone() }
    const one = await startTestApp({ environment: environmentOfOne, deliveries: { pollEveryMs: 20 } })
    await one.services.startJobs()
    const company = await createCompany(one)
    const receiver = await startReceiver()
    const open: (() => void)[] = []
    receiver.answer((response) => open.push(() => response.writeHead(204).end()))
    await createWebhook(one, company.owner, company, { url: receiver.url, types: ['team.created'] })
    await createTeam(one, company.owner, company)
    await receiver.waitFor(1)
    const closing = one.close()
    open[0]?.()
    await closing
    const reader = await startTestApp({ environment: environmentOfOne })
    expect(await selectRows(reader.db, sql`select status, attempts from webhook_deliveries`)).toEqual([
      { status: 'delivered', attempts: 1 },
    ])
  })
})

describe('a change whose transaction is rolled back', () => {
  it('leaves no delivery', async () => {
    const { company, receiver, webhook } = await startWebhook()
    await createTeam(service, company.owner, company, 'Design')
    await receiver.waitFor(1)
    expect((await as(company.owner, post(`${company.url}/teams`, { name: 'design' }))).statusCode).toBe(409)
    expect(await listDeliveries(company, webhook)).toHaveLength(1)
  })
})
