import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, createTeam, post } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { clone, startTestApp } from '../support/test-app.ts'
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
  return { company, webhook, rotate, signatures }
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

  it('signs by both for as long as asked, and not at all by a secret before the last', async () => {
    const { webhook, rotate, signatures } = await startWebhook()
    const second = await rotate({ overlapSeconds: 60 })
    const third = await rotate({ overlapSeconds: 60 })
    expect(await signatures(webhook.secret, second, third)).toEqual([2, false, true, true])
    clock.advance(60_000)
    expect(await signatures(webhook.secret, second, third)).toEqual([1, false, false, true])
    const last = await rotate({ overlapSeconds: 0 })
    expect(await signatures(third, last)).toEqual([1, false, true])
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
