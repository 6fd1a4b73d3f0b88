import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { deleteOldEvents } from '../../src/areas/events/event-retention.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, get, patch, post } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { clone, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'
import { findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({
  clock,
  deliveries: { pollEveryMs: 20 },
  environment: { DATABASE_URL: await clone() },
})
const { as, db } = service
await service.services.startJobs()

interface Delivery {
  id: string
  type: string
  status: string
  attempts: number
}

async function startWebhook(types = ['team.created']) {
  const company = await createCompany(service)
  const receiver = await startReceiver()
  const webhook = await createWebhook(service, company.owner, company, { url: receiver.url, types })
  const list = async (query = '') =>
    (await as(company.owner, get(`${webhook.path}/deliveries${query}`))).json<Delivery[]>()
  const untilAll = (status: string, count: number) =>
    eventually(async () => expect(await list(`?status=${status}`)).toHaveLength(count))
  const makeTeam = () => createTeam(service, company.owner, company)
  return { company, receiver, webhook, list, untilAll, makeTeam }
}

describe('webhooks.listDeliveries', () => {
  it('lists newest first, and filters by status', async () => {
    const { company, receiver, list, untilAll, makeTeam } = await startWebhook([
      'team.created',
      'seed.created',
    ])
    await makeTeam()
    await untilAll('delivered', 1)
    clock.advance(1)
    receiver.answer((response) => response.writeHead(500).end())
    await makeTeam()
    await receiver.waitFor(2)
    await eventually(async () => expect((await list())[0]).toMatchObject({ attempts: 1 }))
    expect((await list()).map(({ status }) => status)).toEqual(['pending', 'delivered'])
    expect((await list('?status=pending')).map(({ status }) => status)).toEqual(['pending'])
    expect(await list('?status=failed')).toEqual([])
    const answer = await as(company.owner, get(`${company.url}/webhooks/${createId()}/deliveries`))
    expectError(answer, errors.notFound)
  })
})

describe('webhooks.redeliver', () => {
  it('sends a delivered event again, with the same id', async () => {
    const { company, receiver, webhook, list, untilAll, makeTeam } = await startWebhook()
    await makeTeam()
    await untilAll('delivered', 1)
    const [delivery] = await list()
    const answer = await as(company.admin, post(`${webhook.path}/deliveries/${delivery?.id}/redeliver`))
    expect(answer.json()).toEqual({ ok: true })
    await receiver.waitFor(2)
    await untilAll('delivered', 1)
    expect(await list()).toMatchObject([{ id: delivery?.id, status: 'delivered', attempts: 1 }])
    const [first, second] = receiver.received
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.body).toBe(first?.body)
    expect((await findEvents(service, company.workspace)).at(-1)).toMatchObject({
      type: 'webhook.redelivered',
      summary: expect.stringMatching(
        /^Adam Admin sent 1 event to the webhook to 127\.0\.0\.1:\d+ again$/,
      ) as string,
    })
  })

  it('gives a failed delivery ten attempts again', async () => {
    const { company, receiver, webhook, list, untilAll, makeTeam } = await startWebhook()
    receiver.answer((response) => response.writeHead(500).end())
    await makeTeam()
    await receiver.waitFor(1)
    await eventually(async () => expect((await list())[0]).toMatchObject({ attempts: 1 }))
    await db.execute(sql`update webhook_deliveries set status = 'failed', attempts = 10, next_attempt_at = null
      where webhook_id = ${webhook.id}`)
    receiver.answer((response) => response.writeHead(204).end())
    const [delivery] = await list()
    await as(company.owner, post(`${webhook.path}/deliveries/${delivery?.id}/redeliver`))
    await untilAll('delivered', 1)
    expect(await list()).toMatchObject([{ attempts: 1 }])
  })

  it('returns 404 for a delivery of another webhook, and 409 for a disabled webhook', async () => {
    const [one, other] = [await startWebhook(), await startWebhook()]
    await one.makeTeam()
    await one.untilAll('delivered', 1)
    const [delivery] = await one.list()
    const redeliver = ({ company, webhook }: typeof one, id = delivery?.id) =>
      as(company.owner, post(`${webhook.path}/deliveries/${id}/redeliver`))
    expectError(await redeliver(other), errors.notFound)
    expectError(await redeliver(one, createId()), errors.notFound)
    await as(one.company.owner, patch(one.webhook.path, { status: 'disabled' }))
    expectError(await redeliver(one), errors.webhookDisabled)
    expect(await one.list()).toMatchObject([{ status: 'delivered' }])
  })
})

describe('webhooks.redeliverSince', () => {
  it('sends delivered, failed and missed events of a time again, of the types of the webhook', async () => {
    const { company, receiver, webhook, list, untilAll, makeTeam } = await startWebhook()
    await makeTeam()
    await untilAll('delivered', 1)
    clock.advance(1_000)
    const since = clock.now().toISOString()
    await makeTeam()
    await untilAll('delivered', 2)
    clock.advance(1_000)
    await as(company.owner, patch(webhook.path, { status: 'disabled' }))
    await makeTeam()
    clock.advance(1_000)
    const until = clock.now().toISOString()
    expectError(await as(company.owner, post(`${webhook.path}/redeliver`, { since })), errors.webhookDisabled)
    await as(company.owner, patch(webhook.path, { status: 'active' }))
    await makeTeam()
    await untilAll('delivered', 3)
    const { length } = receiver.received
    const answer = await as(company.owner, post(`${webhook.path}/redeliver`, { since, until }))
    expect(answer.json()).toEqual({ ok: true, deliveries: 2, keptSince: null })
    await receiver.waitFor(length + 2)
    await untilAll('delivered', 4)
    expect(await list('?status=pending')).toEqual([])
    clock.advance(1)
    expect((await as(company.owner, post(`${webhook.path}/redeliver`, { since }))).json()).toEqual({
      ok: true,
      deliveries: 3,
      keptSince: null,
    })
  })

  it('says since when events are kept, if earlier ones are asked for that are gone', async () => {
    const { company, webhook, makeTeam } = await startWebhook()
    const since = clock.now().toISOString()
    clock.advance(1_000)
    await makeTeam()
    clock.advance(1_000)
    const later = clock.now().toISOString()
    await makeTeam()
    clock.advance(1_000)
    const ask = async (from: string) =>
      (await as(company.owner, post(`${webhook.path}/redeliver`, { since: from }))).json<object>()
    expect(await ask(since)).toEqual({ ok: true, deliveries: 2, keptSince: null })
    await deleteOldEvents(db, new Date(later))
    expect(await ask(since)).toMatchObject({ ok: true, keptSince: later })
    expect(await ask(later)).toMatchObject({ ok: true, keptSince: null })
    await deleteOldEvents(db, new Date(clock.now().getTime() + 1))
    const { keptSince } = (await ask(since)) as { keptSince: string }
    expect(Date.parse(keptSince)).toBeGreaterThan(Date.parse(later))
  })

  it('sends 10,000 events, and refuses more without a change', async () => {
    const { company, receiver, webhook, list, untilAll } = await startWebhook(['seed.joined'])
    receiver.answer(() => undefined)
    // With positions, which the trigger would give one by one.
    const fill = (from: number, to: number, at: string) =>
      db.execute(sql`
        insert into events (id, workspace_id, type, actor_type, actor_name, source, summary, created_at, position)
        select gen_random_uuid(), ${company.workspace.id}, 'seed.joined', 'user', 'Olga', 'api', 'Olga', ${at}, i
        from generate_series(${from}::int, ${to}::int) as i`)
    await fill(100_001, 110_000, '2026-01-02T00:00:00.000Z')
    await fill(110_001, 110_001, '2026-01-03T00:00:00.000Z')
    const request = (until: string) =>
      as(company.owner, post(`${webhook.path}/redeliver`, { since: '2026-01-01T00:00:00.000Z', until }))
    expectError(await request('2026-01-04T00:00:00.000Z'), errors.tooManyDeliveries)
    expect(await list()).toEqual([])
    const answer = await request('2026-01-03T00:00:00.000Z')
    expect(answer.json()).toEqual({ ok: true, deliveries: 10_000, keptSince: null })
    await receiver.waitFor(4)
    receiver.answer((response) => response.writeHead(410).end())
    await as(company.owner, patch(webhook.path, { status: 'disabled' }))
    await untilAll('delivered', 0)
  })

  it('returns decode_error without a time, and for what is none', async () => {
    const { company, webhook } = await startWebhook()
    for (const body of [{}, { since: 'yesterday' }, { since: '2026-01-01' }])
      expectError(await as(company.owner, post(`${webhook.path}/redeliver`, body)), errors.decodeError, {
        issues: anyIssues,
      })
  })
})
