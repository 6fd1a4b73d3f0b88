import { describe, expect, it, vi } from 'vitest'
import { createCompany, createTeam, get, patch } from '../support/company.ts'
import { clone } from '../support/test-app.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'
import { fieldsOf, noticeOn, signInAs, startWebsite, type Visitor } from './visitor.ts'

const website = await startWebsite({
  deliveries: { pollEveryMs: 20 },
  environment: { DATABASE_URL: await clone() },
})

interface Webhook {
  id: string
  url: string
  types: string[]
  description: string | null
  status: string
}

async function startCompany() {
  const company = await createCompany(website)
  const admin = await signInAs(website, company.admin)
  const path = `/w/${company.workspace.slug}/settings/webhooks`
  const list = async () => (await website.as(company.owner, get(`${company.url}/webhooks`))).json<Webhook[]>()
  return { company, admin, path, list }
}

/** A webhook that gets new teams, with its page. */
async function startWebhook() {
  const started = await startCompany()
  const receiver = await startReceiver()
  const body = { url: receiver.url, types: ['team.created'] }
  const webhook = await createWebhook(website, started.company.owner, started.company, body)
  return { ...started, receiver, webhook, page: `${started.path}/${webhook.id}` }
}

const secretOn = (page: string) => /id="secret"[^>]*value="(whsec_[^"]+)"/.exec(page)?.[1]

async function send(visitor: Visitor, page: string, form: string, fields: Record<string, string> = {}) {
  await visitor.get(page)
  return visitor.submit(`${page}${form}`, fields)
}

describe('the webhooks page', () => {
  it('adds a webhook, whose secret its page shows once', async () => {
    const { admin, path, list } = await startCompany()
    expect((await admin.get(path)).body).toContain('No webhooks yet.')
    const url = 'https://hooks.example.com/T0/B1?key=2'
    const created = await admin.submit(path, { url, description: 'To the chat', 'type:seed.created': 'on' })
    expect(created.statusCode, created.body).toBe(200)
    expect(secretOn(created.body)).toMatch(/^whsec_.{44}$/)
    const [webhook] = await list()
    expect(webhook).toMatchObject({ url, description: 'To the chat', types: ['seed.created'] })
    expect((await admin.get(`${path}/${webhook?.id}`)).body).not.toContain('whsec_')
    const page = (await admin.get(path)).body
    expect(page).toContain(`href="${path}/${webhook?.id}"`)
    expect(page).toContain('To the chat')
    expect(page).toContain('hooks.example.com')
  })

  it('shows a refused URL again, with the reason and all that was typed', async () => {
    const { admin, path, list } = await startCompany()
    await admin.get(path)
    const refused = await admin.submit(path, {
      url: 'http://hooks.example.com/',
      description: 'Typed',
      'type:seed.created': 'on',
    })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain('Enter an https URL without a user name and password.')
    expect(refused.body).toContain('value="http://hooks.example.com/"')
    expect(refused.body).toContain('value="Typed"')
    expect(refused.body).toMatch(/name="type:seed\.created"\s+checked/)
    expect(await list()).toEqual([])
  })

  it('is for owners and admins: others find neither the page nor the link', async () => {
    const { company, admin, path } = await startCompany()
    const settings = path.replace('/webhooks', '')
    expect((await admin.get(settings)).body).toContain(`href="${path}"`)
    for (const person of [company.member, company.viewer]) {
      const visitor = await signInAs(website, person)
      expect((await visitor.get(settings)).body).not.toContain(`href="${path}"`)
      expect((await visitor.get(path)).statusCode).toBe(403)
    }
  })
})

describe('the page of a webhook', () => {
  it('saves what was edited, and nothing when somebody else has changed it meanwhile', async () => {
    const { company, admin, page, webhook, list } = await startWebhook()
    const opened = (await admin.get(page)).body
    const fields = fieldsOf(opened, page)
    const saved = await admin.submit(page, { ...fields, description: 'Mine', 'type:team.created': 'on' })
    expect(noticeOn(saved.body)).toBe('Saved.')
    expect(await list()).toMatchObject([{ description: 'Mine', types: ['team.created'] }])

    const stale = fieldsOf((await admin.get(page)).body, page)
    await website.as(company.owner, patch(webhook.path, { description: 'Theirs' }))
    const refused = await admin.submit(page, { ...stale, description: 'Mine too', 'type:team.created': 'on' })
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toContain('Theirs')
    expect(refused.body).toContain('value="Mine too"')
    const other = await admin.submit(page, { ...stale, url: 'https://other.example/' })
    expect(other.statusCode).toBe(200)
    expect(await list()).toMatchObject([{ url: 'https://other.example/', description: 'Theirs', types: [] }])
  })

  it('disables, enables and deletes the webhook, and replaces its secret', async () => {
    const { admin, page, list, webhook } = await startWebhook()
    await send(admin, page, '/status', { status: 'disabled' })
    expect(await list()).toMatchObject([{ status: 'disabled' }])
    expect(noticeOn((await send(admin, page, '/status', { status: 'active' })).body)).toBe(
      'The webhook was enabled.',
    )
    const rotated = secretOn((await send(admin, page, '/rotate-secret')).body)
    expect(rotated).toMatch(/^whsec_/)
    expect(rotated).not.toBe(webhook.secret)
    const deleted = await send(admin, page, '/delete')
    expect(noticeOn(deleted.body)).toMatch(/^The webhook to 127\.0\.0\.1:\d+ was deleted\.$/)
    expect(await list()).toEqual([])
    expect((await admin.get(page)).statusCode).toBe(404)
  })

  it('sends a test, and says what the receiver answered', async () => {
    const { admin, page, receiver } = await startWebhook()
    expect(noticeOn((await send(admin, page, '/test')).body)).toBe(
      'The receiver answered 204: the test was delivered.',
    )
    receiver.answer((response) => response.writeHead(500).end())
    expect(noticeOn((await send(admin, page, '/test')).body)).toBe(
      'The test failed: the receiver answered 500.',
    )
    expect(receiver.received).toHaveLength(2)
  })

  it('lists deliveries, and sends them again', async () => {
    const { admin, company, page, receiver, webhook } = await startWebhook()
    receiver.answer((response) => response.writeHead(500).end())
    await createTeam(website, company.owner, company)
    await receiver.waitFor(1)
    const [delivery] = await vi.waitFor(async () => {
      const answer = await website.as(company.owner, get(`${webhook.path}/deliveries`))
      const found = answer.json<{ id: string; attempts: number }[]>()
      expect(found).toMatchObject([{ attempts: 1 }])
      return found
    })
    const shown = (await admin.get(page)).body
    expect(shown).toContain('Team created')
    expect(shown).toContain('answered 500')
    receiver.answer((response) => response.writeHead(204).end())
    await send(admin, page, '/redeliver', { deliveryId: String(delivery?.id) })
    await receiver.waitFor(2)
    const again = await send(admin, page, '/redeliver-since', { hours: '24' })
    expect(noticeOn(again.body)).toBe('One event is sent again.')
    await receiver.waitFor(3)
  })
})
