import { describe, expect, it } from 'vitest'
import { createCompany, get, patch, post } from '../support/company.ts'
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
  const webhook = await createWebhook(service, company.owner, company, { url: receiver.url })
  const test = async () => (await as(company.admin, post(`${webhook.path}/test`))).json<object>()
  return { company, receiver, webhook, test }
}

describe('200', () => {
  it('sends a signed request of the type webhook.test, and returns the status', async () => {
    const { company, receiver, webhook, test } = await startWebhook()
    expect(await test()).toEqual({ ok: true, delivered: true, status: 204, error: null })
    const [request, ...more] = receiver.received
    if (!request) throw new Error('there is no request')
    expect(more).toEqual([])
    expect(isSignedBy(request, webhook.secret)).toBe(true)
    const payload: unknown = JSON.parse(request.body)
    expect(payload).toEqual({
      type: 'webhook.test',
      timestamp: clock.now().toISOString(),
      data: { webhookId: webhook.id, workspaceId: company.workspace.id },
      cursor: null,
    })
    expect(findFaultsOfMessage(service, payload, 'test')).toEqual([])
    expect(request.headers).toMatchObject({
      'webhook-endpoint-id': webhook.id,
      'webhook-workspace-id': company.workspace.id,
    })
    expect((await findEvents(service, company.workspace)).at(-1)).toMatchObject({
      type: 'webhook.tested',
      target_id: webhook.id,
      summary: expect.stringMatching(/^Adam Admin sent a test to the webhook to 127\.0\.0\.1:\d+$/) as string,
    })
  })

  it('returns what failed, and changes nothing of the webhook', async () => {
    const { company, receiver, webhook, test } = await startWebhook()
    const before = (await as(company.owner, get(webhook.path))).json<object>()
    receiver.answer((response) => response.writeHead(410).end('gone'))
    expect(await test()).toEqual({ ok: true, delivered: false, status: 410, error: 'status' })
    expect((await as(company.owner, get(webhook.path))).json()).toEqual(before)
    await as(company.owner, patch(webhook.path, { url: 'http://127.0.0.1:1/' }))
    expect(await test()).toEqual({ ok: true, delivered: false, status: null, error: 'refused' })
  })

  it('tests a disabled webhook', async () => {
    const { company, webhook, test } = await startWebhook()
    await as(company.owner, patch(webhook.path, { status: 'disabled' }))
    expect(await test()).toMatchObject({ delivered: true })
  })
})
