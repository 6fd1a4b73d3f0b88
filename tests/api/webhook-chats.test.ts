import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { webhookFormats } from '../../src/domain/webhooks.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, createTeam, get, patch, post, type TestCompany } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { createSeed } from '../support/seeds.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startReceiver, type ReceivedRequest } from '../support/webhook-receiver.ts'
import { createWebhook, type TestWebhook } from '../support/webhooks.ts'

const minute = 60_000

const clock = createTestClock()
const deliveries = { pollEveryMs: 20, random: () => 0 }
const service = await startTestApp({ clock, deliveries, environment: { DATABASE_URL: await clone() } })
const { as, db } = service
await service.services.startJobs()

interface Delivery {
  type: string
  status: string
  attempts: number
}

async function startChat(more: { format?: string; types?: string[]; seedIds?: string[] } = {}) {
  const company = await createCompany(service)
  const receiver = await startReceiver()
  const body = { url: receiver.url, format: 'slack', ...more }
  const webhook = await createWebhook(service, company.owner, company, body)
  return { company, receiver, webhook }
}

const textOf = (request: ReceivedRequest | undefined) =>
  (JSON.parse(request?.body ?? '{}') as { text: string }).text

async function listDeliveries({ owner }: TestCompany, { path }: TestWebhook): Promise<Delivery[]> {
  return (await as(owner, get(`${path}/deliveries?limit=200`))).json<Delivery[]>()
}

/** Waits until all deliveries of a webhook have a status. */
function untilAll(company: TestCompany, webhook: TestWebhook, expected: Partial<Delivery>, count: number) {
  return eventually(async () => {
    const found = await listDeliveries(company, webhook)
    expect(found).toHaveLength(count)
    for (const delivery of found) expect(delivery).toMatchObject(expected)
  })
}

describe('a webhook with a format', () => {
  it('sends the sentence of an event with its link, unsigned', async () => {
    const { company, receiver, webhook } = await startChat()
    const seed = await createSeed(service, company.owner, company, { title: 'Tools <!channel>' })
    await receiver.waitFor(1)
    expect(textOf(receiver.received[0])).toBe(
      `Olga Owner created the seed Tools &lt;!channel&gt; <http://localhost:3000/s/${seed.id}|Open>`,
    )
    expect(
      Object.keys(receiver.received[0]?.headers ?? {}).filter((name) => name.startsWith('webhook-')),
    ).toEqual([])
    await untilAll(company, webhook, { type: 'seed.created', status: 'delivered', attempts: 1 }, 1)
  })

  it('tells at once what happens first, and what happens within the next minute in one message', async () => {
    const { company, receiver, webhook } = await startChat({ types: ['team.created'] })
    await createTeam(service, company.owner, company)
    await untilAll(company, webhook, { status: 'delivered' }, 1)
    for (let i = 0; i < 3; i++) await createTeam(service, company.owner, company)
    // Another webhook shows that the deliverer has looked since.
    const other = await startReceiver()
    await createWebhook(service, company.owner, company, { url: other.url, types: ['team.created'] })
    await createTeam(service, company.owner, company)
    await other.waitFor(1)
    expect(receiver.received).toHaveLength(1)
    clock.advance(minute)
    await receiver.waitFor(2)
    expect(textOf(receiver.received[1]).split('\n')).toHaveLength(4)
    await untilAll(company, webhook, { status: 'delivered', attempts: 1 }, 5)
    expect(receiver.received).toHaveLength(2)
    expect(receiver.inProgress.most).toBe(1)
  })

  it('tries all that a message was about again together, and marks each', async () => {
    const { company, receiver, webhook } = await startChat({ types: ['team.created'] })
    receiver.answer((response) => response.writeHead(500).end())
    await createTeam(service, company.owner, company)
    await untilAll(company, webhook, { status: 'pending', attempts: 1 }, 1)
    await createTeam(service, company.owner, company)
    await untilAll(company, webhook, { status: 'pending', attempts: 1 }, 2)
    receiver.answer((response) => response.writeHead(200).end())
    const before = receiver.received.length
    clock.advance(minute)
    await untilAll(company, webhook, { status: 'delivered', attempts: 2 }, 2)
    expect(receiver.received).toHaveLength(before + 1)
    expect(textOf(receiver.received.at(-1)).split('\n')).toHaveLength(2)
  })

  it('gets what everybody may see; what only managers may see if it is named', async () => {
    const { company, receiver, webhook } = await startChat()
    const named = await startReceiver()
    const body = { url: named.url, format: 'slack', types: ['invite.created'] }
    const ofInvites = await createWebhook(service, company.owner, company, body)
    const invited = await as(
      company.owner,
      post(`${company.url}/invites`, { email: 'secret@example.com', role: 'member' }),
    )
    expect(invited.statusCode, invited.body).toBe(200)
    await named.waitFor(1)
    expect(textOf(named.received[0])).toContain('secret@example.com')
    await untilAll(company, ofInvites, { type: 'invite.created', status: 'delivered' }, 1)
    expect(await listDeliveries(company, webhook)).toEqual([])
    clock.advance(1_000)
    const again = await as(
      company.owner,
      post(`${webhook.path}/redeliver`, {
        since: new Date(clock.now().getTime() - minute).toISOString(),
      }),
    )
    expect(again.json()).toMatchObject({ ok: true })
    await receiver.waitFor(1)
    expect(receiver.received.map(textOf).join()).not.toContain('secret@example.com')
  })

  it('does not get what waits for it from before it had a format, and may not be told', async () => {
    const company = await createCompany(service)
    const receiver = await startReceiver()
    receiver.answer((response) => response.writeHead(500).end())
    const types = [] as string[]
    const webhook = await createWebhook(service, company.owner, company, { url: receiver.url, types })
    await as(company.owner, post(`${company.url}/invites`, { email: 'secret@example.com', role: 'member' }))
    await createTeam(service, company.owner, company)
    await eventually(async () => {
      const found = await listDeliveries(company, webhook)
      expect(found.map(({ type }) => type).sort()).toEqual([
        'invite.created',
        'team.created',
        'webhook.created',
      ])
      for (const delivery of found) expect(delivery).toMatchObject({ status: 'pending', attempts: 1 })
    })
    expect((await as(company.owner, patch(webhook.path, { format: 'mattermost' }))).statusCode).toBe(200)
    receiver.answer((response) => response.writeHead(200).end())
    const before = receiver.received.length
    clock.advance(minute)
    await untilAll(company, webhook, { type: 'team.created', status: 'delivered' }, 1)
    expect(receiver.received.slice(before).map(textOf).join()).not.toMatch(/secret|webhook/)
  })

  it.each(webhookFormats)('is tested with a message: %s', async (format) => {
    const { company, receiver, webhook } = await startChat({ format })
    const tested = await as(company.admin, post(`${webhook.path}/test`))
    expect(tested.json()).toEqual({ ok: true, delivered: true, status: 204, error: null })
    expect(receiver.received.at(-1)?.body).toContain('This is a test')
    const sampled = await as(company.admin, post(`${webhook.path}/sample`, { type: 'seed.created' }))
    expect(sampled.json()).toMatchObject({ delivered: true })
    expect(receiver.received.at(-1)?.body).toContain('Grace Hopper created the seed')
  })
})

describe('seedIds', () => {
  it('limits a webhook to the events of some seeds, also when they are sent again', async () => {
    const company = await createCompany(service)
    const [chosen, other] = [
      await createSeed(service, company.owner, company, { title: 'Chosen' }),
      await createSeed(service, company.owner, company, { title: 'Other' }),
    ]
    const receiver = await startReceiver()
    const body = { url: receiver.url, seedIds: [chosen.id] }
    const webhook = await createWebhook(service, company.owner, company, body)
    await createTeam(service, company.owner, company)
    for (const { id } of [other, chosen])
      await as(company.owner, patch(`/v1/seeds/${id}`, { summary: 'Changed' }))
    await untilAll(company, webhook, { type: 'seed.updated', status: 'delivered' }, 1)
    clock.advance(1_000)
    const since = new Date(clock.now().getTime() - 60 * minute).toISOString()
    const again = await as(company.owner, post(`${webhook.path}/redeliver`, { since }))
    expect(again.json()).toEqual({ ok: true, deliveries: 2, keptSince: null })
    const read = await as(company.owner, get(webhook.path))
    expect(read.json()).toMatchObject({ seedIds: [chosen.id], format: null })
    expect((await as(company.owner, patch(webhook.path, { seedIds: [] }))).statusCode).toBe(200)
    expect((await as(company.owner, get(webhook.path))).json()).toMatchObject({ seedIds: [] })
  })

  it('must be seeds of the workspace', async () => {
    const company = await createCompany(service)
    const foreign = await createCompany(service)
    const seed = await createSeed(service, foreign.owner, foreign)
    const deleted = await createSeed(service, company.owner, company)
    await db.execute(sql`update seeds set deleted_at = now() where id = ${deleted.id}`)
    const url = 'https://hooks.example.com/workspace'
    for (const id of [seed.id, deleted.id, '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0b', 'none'])
      expectError(
        await as(company.owner, post(`${company.url}/webhooks`, { url, seedIds: [id] })),
        errors.notFound,
      )
    const webhook = await createWebhook(service, company.owner, company, { url })
    expectError(await as(company.owner, patch(webhook.path, { seedIds: [seed.id] })), errors.notFound)
  })
})
