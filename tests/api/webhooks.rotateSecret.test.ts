import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createWebhookSecret } from '../../src/areas/webhooks/webhook-signatures.ts'
import { errors } from '../../src/kernel/errors.ts'
import { openAppSecret } from '../../src/services/adapters.ts'
import { createCompany, createTeam, get, post } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { isSignedBy, startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'

const clock = createTestClock()
const service = await startTestApp({
  clock,
  deliveries: { pollEveryMs: 20 },
  environment: { DATABASE_URL: await clone() },
})
const { as } = service
await service.services.startJobs()

async function startWebhook() {
  const company = await createCompany(service)
  const receiver = await startReceiver()
  const types = ['team.created']
  const webhook = await createWebhook(service, company.owner, company, { url: receiver.url, types })
  /** Which of some secrets the request about a new event is signed by. That of a former one may be sent again. */
  const signatures = async (...secrets: string[]) => {
    const { id: teamId } = await createTeam(service, company.owner, company)
    const request = await untilTrue(() => receiver.received.find(({ body }) => body.includes(teamId)))
    return [
      String(request.headers['webhook-signature']).split(' ').length,
      ...secrets.map((secret) => isSignedBy(request, secret)),
    ]
  }
  const rotate = async (body?: object) => {
    const answer = await as(company.admin, post(`${webhook.path}/rotate-secret`, body))
    expect(answer.statusCode, answer.body).toBe(200)
    expect(answer.json()).toEqual({
      ok: true,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) as string,
    })
    return answer.json<{ secret: string }>().secret
  }
  const read = async () => (await as(company.owner, get(webhook.path))).json<object>()
  return { company, webhook, rotate, signatures, read }
}

describe('200', () => {
  it('signs by both secrets for a day, then by the new one', async () => {
    const { webhook, rotate, signatures } = await startWebhook()
    expect(await signatures(webhook.secret)).toEqual([1, true])
    const next = await rotate()
    expect(await signatures(webhook.secret, next)).toEqual([2, true, true])
    clock.advance(24 * 60 * 60 * 1000)
    expect(await signatures(webhook.secret, next)).toEqual([1, false, true])
  })

  it('signs by each former secret until its own time', async () => {
    const { webhook, rotate, signatures, read } = await startWebhook()
    const start = clock.now().getTime()
    const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
    expect(await read()).toMatchObject({ secretCreatedAt: at(0), formerSecretsUntil: [] })
    clock.advance(1000)
    const second = await rotate({ overlapSeconds: 299 })
    const third = await rotate({ overlapSeconds: 59 })
    expect(await signatures(webhook.secret, second, third)).toEqual([3, true, true, true])
    expect(await read()).toMatchObject({ secretCreatedAt: at(1), formerSecretsUntil: [at(300), at(60)] })
    clock.advance(59_000)
    expect(await signatures(webhook.secret, second, third)).toEqual([2, true, false, true])
    expect(await read()).toMatchObject({ formerSecretsUntil: [at(300)] })
    clock.advance(240_000)
    expect(await signatures(webhook.secret, second, third)).toEqual([1, false, false, true])
    expect(await read()).toMatchObject({ formerSecretsUntil: [] })
  })

  it('ends all former secrets with an overlap of 0, however many there are', async () => {
    const { webhook, rotate, signatures, read } = await startWebhook()
    const former = [await rotate(), await rotate(), await rotate()]
    const last = await rotate({ overlapSeconds: 0 })
    expect(await signatures(webhook.secret, ...former, last)).toEqual([1, false, false, false, false, true])
    expect(await read()).toMatchObject({ formerSecretsUntil: [] })
  })

  it('keeps the newest former secret where the version before reads it, and one that it rotated', async () => {
    const { webhook, rotate, signatures } = await startWebhook()
    const second = await rotate({ overlapSeconds: 60 })
    const third = await rotate({ overlapSeconds: 120 })
    const box = openAppSecret(service.config).boxOf('secrets of webhooks')
    const [row] = await selectRows<{ sealed: Buffer; until: Date }>(
      service.db,
      sql`select previous_sealed_secret as sealed, previous_secret_until as until from webhooks where id = ${webhook.id}`,
    )
    expect(row && box.open(row.sealed)).toBe(second)
    expect(Number(new Date(String(row?.until)))).toBe(clock.now().getTime() + 120_000)
    // The version before rotates.
    const byFormer = createWebhookSecret()
    const until = new Date(clock.now().getTime() + 180_000).toISOString()
    await service.db.execute(sql`
      update webhooks set previous_sealed_secret = sealed_secret, previous_secret_until = ${until},
        sealed_secret = ${box.seal(byFormer)} where id = ${webhook.id}`)
    expect(await signatures(webhook.secret, second, third, byFormer)).toEqual([4, true, true, true, true])
    clock.advance(60_000)
    const last = await rotate({ overlapSeconds: 240 })
    expect(await signatures(second, third, byFormer, last)).toEqual([4, true, true, true, true])
    // It ends all of them.
    await service.db.execute(sql`
      update webhooks set previous_sealed_secret = null, previous_secret_until = null where id = ${webhook.id}`)
    expect(await signatures(second, third, byFormer, last)).toEqual([1, false, false, false, true])
  })
})

describe('409', () => {
  it('returns webhook_rotated while three former secrets sign', async () => {
    const { company, webhook, rotate, signatures } = await startWebhook()
    const path = `${webhook.path}/rotate-secret`
    const former = [webhook.secret, await rotate({ overlapSeconds: 60 }), await rotate()]
    const last = await rotate()
    expectError(await as(company.owner, post(path, {})), errors.webhookRotated)
    expect(await signatures(...former, last)).toEqual([4, true, true, true, true])
    clock.advance(60_000)
    await rotate()
  })
})

describe('412', () => {
  it('returns precondition_failed to the second of two rotations with the same If-Match', async () => {
    const { company, webhook, rotate, signatures } = await startWebhook()
    clock.advance(1000)
    const tag = String((await as(company.owner, get(webhook.path))).headers.etag)
    const request = { ...post(`${webhook.path}/rotate-secret`, {}), headers: { 'if-match': tag } }
    const answers = await Promise.all([as(company.owner, request), as(company.admin, request)])
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 412])
    const refused = answers.find(({ statusCode }) => statusCode === 412)
    if (refused) expectError(refused, errors.preconditionFailed)
    const { secret } = answers.find(({ statusCode }) => statusCode === 200)?.json<{ secret: string }>() ?? {}
    expect(await signatures(webhook.secret, String(secret))).toEqual([2, true, true])
    await rotate()
  })
})

describe('400', () => {
  it('returns decode_error for an overlap below 0 and above a week', async () => {
    const { company, webhook } = await startWebhook()
    for (const overlapSeconds of [-1, 604_801, 0.5, '60', null])
      expectError(
        await as(company.owner, post(`${webhook.path}/rotate-secret`, { overlapSeconds })),
        errors.decodeError,
        { issues: anyIssues },
      )
  })
})
