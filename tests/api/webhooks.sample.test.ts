import { describe, expect, it } from 'vitest'
import { eventKinds, type EventType } from '../../src/domain/events.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { isSignedBy, startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook, findFaultsOfMessage } from '../support/webhooks.ts'
import { findEvents } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as } = service

async function startWebhook() {
  const company = await createCompany(service)
  const receiver = await startReceiver()
  const webhook = await createWebhook(service, company.owner, company, {
    url: receiver.url,
    types: ['team.created'],
  })
  const sample = (type: string) => as(company.admin, post(`${webhook.path}/sample`, { type }))
  return { company, receiver, webhook, sample }
}

describe('200', () => {
  it('sends an event of each type as its documentation has it, signed, and appends that it was sent', async () => {
    const { company, receiver, webhook, sample } = await startWebhook()
    const types = Object.keys(eventKinds) as EventType[]
    for (const [i, type] of types.entries()) {
      const answer = await sample(type)
      expect(answer.json(), answer.body).toEqual({ ok: true, delivered: true, status: 204, error: null })
      const request = receiver.received[i]
      if (!request) throw new Error('there is no request')
      expect(isSignedBy(request, webhook.secret)).toBe(true)
      const message = JSON.parse(request.body) as { data: { id: string } }
      expect(findFaultsOfMessage(service, message), type).toEqual([])
      expect(message).toMatchObject({
        ...{ type, timestamp: clock.now().toISOString(), cursor: null },
        data: { type, workspaceId: company.workspace.id, data: eventKinds[type].example },
      })
      expect(request.headers['webhook-id']).toBe(message.data.id)
    }
    expect((await findEvents(service, company.workspace)).at(-1)).toMatchObject({
      type: 'webhook.tested',
      summary: expect.stringContaining(
        ` sent a sample of ${types.at(-1)} to the webhook to 127.0.0.1:`,
      ) as string,
    })
  })

  it('has the URL of what the event is about', async () => {
    const { receiver, sample } = await startWebhook()
    for (const type of ['comment.added', 'seed.created', 'team.created']) await sample(type)
    const urls = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { data: { url: unknown } }).data.url,
    )
    const { commentId, seedId } = eventKinds['comment.added'].example
    const page = `http://localhost:3000/s/${seedId}`
    expect(urls).toEqual([`${page}#comment-${commentId}`, page, null])
  })

  it('is sent to a disabled webhook too, and what failed is said', async () => {
    const { company, webhook, sample } = await startWebhook()
    await as(company.owner, patch(webhook.path, { status: 'disabled', url: 'http://127.0.0.1:1/' }))
    expect((await sample('seed.created')).json()).toEqual({
      ...{ ok: true, delivered: false, status: null, error: 'refused' },
    })
  })
})

describe('400', () => {
  it('refuses a type that does not exist, and no type', async () => {
    const { company, receiver, webhook, sample } = await startWebhook()
    expectError(await sample('seed.eaten'), errors.eventTypeUnknown, { field: 'type' })
    const without = await as(company.admin, post(`${webhook.path}/sample`, {}))
    expectError(without, errors.decodeError, { issues: anyIssues })
    expect(receiver.received).toEqual([])
    expect((await as(company.owner, get(webhook.path))).statusCode).toBe(200)
  })
})
