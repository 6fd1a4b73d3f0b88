import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createCompany, createTeam, del, get, patch } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { createLabel, createSeed } from '../support/seeds.ts'
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
  format: string | null
  seedIds: string[]
  teamIds: string[]
  labelIds: string[]
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

  it('sends messages to a chat, about the seeds whose links were given', async () => {
    const { company, admin, path, list } = await startCompany()
    const [one, other] = [
      await createSeed(website, company.owner, company, { title: 'Tools' }),
      await createSeed(website, company.owner, company, { title: 'Bikes' }),
    ]
    await admin.get(path)
    const seedIds = ` http://localhost:3000/s/${one.id}#comments\thttps://x.example/w/acme/seeds/${other.id}?q=1 `
    const url = 'https://hooks.example.com/T0/B1'
    const created = await admin.submit(path, { url, description: '', format: 'slack', seedIds })
    expect(created.statusCode, created.body).toBe(200)
    const [webhook] = await list()
    expect(webhook).toMatchObject({ format: 'slack', seedIds: [one.id, other.id].sort() })
    expect((await admin.get(path)).body).toContain('Messages to Slack')
    const page = `${path}/${webhook?.id}`
    const shown = (await admin.get(page)).body
    expect(shown).toMatch(/<option value="slack"\s+selected/)
    expect(shown).toMatch(new RegExp(`name="seed:${one.id}"\\s+checked`))
    expect(shown).toContain('Bikes')
    const fields = { ...fieldsOf(shown, page), format: 'discord', [`seed:${other.id}`]: 'on' }
    const saved = await admin.submit(page, fields)
    expect(saved.statusCode, saved.body).toBe(200)
    expect(await list()).toMatchObject([{ format: 'discord', seedIds: [other.id] }])
    await admin.get(path)
    const refused = await admin.submit(path, { url, description: '', seedIds: 'https://x.example/none' })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain('These must be links to seeds of this workspace.')
    expect(refused.body).toContain('value="https://x.example/none"')
  })

  it('limits a webhook to teams and labels, and keeps what was deleted until it is taken out', async () => {
    const { company, admin, path, list } = await startCompany()
    const { owner } = company
    const team = await createTeam(website, owner, company, 'Research <b>')
    const label = await createLabel(website, owner, company, 'Pricing')
    const seed = await createSeed(website, owner, company)
    expect((await admin.get(path)).body).toContain('Research &lt;b&gt;')
    const url = 'https://hooks.example.com/T0/B1'
    const chosen = { [`team:${team.id}`]: 'on', [`label:${label.id}`]: 'on' }
    const links = `https://x.example/s/${seed.id}`
    const refused = await admin.submit(path, { url: 'none', description: '', ...chosen })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toMatch(new RegExp(`name="label:${label.id}"\\s+checked`))
    await admin.submit(path, { url, description: '', seedIds: links, ...chosen })
    const [webhook] = await list()
    const scopes = { seedIds: [seed.id], teamIds: [team.id], labelIds: [label.id] }
    expect(webhook).toMatchObject(scopes)
    for (const gone of [team.url, `${company.url}/labels/${label.id}`, `/v1/seeds/${seed.id}`])
      expect((await website.as(owner, del(gone))).statusCode).toBe(200)
    const page = `${path}/${webhook?.id}`
    const shown = (await admin.get(page)).body
    const boxes = [`seed:${seed.id}`, ...Object.keys(chosen)]
    for (const box of boxes) expect(shown).toMatch(new RegExp(`name="${box}"\\s+checked`))
    expect(shown).toContain('A team that is not listed, or deleted')
    const fields = { ...fieldsOf(shown, page), ...Object.fromEntries(boxes.map((box) => [box, 'on'])) }
    await admin.submit(page, { ...fields, description: 'Kept' })
    expect(await list()).toMatchObject([{ description: 'Kept', ...scopes }])
    await admin.get(page)
    await admin.submit(page, { ...fields, description: 'Kept', [`team:${team.id}`]: '' })
    expect(await list()).toMatchObject([{ ...scopes, teamIds: [] }])
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
    const shown = (await admin.get(page)).body
    expect(shown).toMatch(/signed with\s+the former secret\s+too, until\s+<time datetime/)
    for (let i = 0; i < 2; i++) await send(admin, page, '/rotate-secret')
    expect((await admin.get(page)).body).toMatch(
      /former secrets\s+too, until\s+(<time[^>]*>[^<]*<\/time\s*>[.,]\s*){3}/,
    )
    const refused = await send(admin, page, '/rotate-secret')
    expect(refused.body).toContain('Three former secrets of the webhook still sign requests.')
    const deleted = await send(admin, page, '/delete')
    expect(noticeOn(deleted.body)).toMatch(/^The webhook to 127\.0\.0\.1:\d+ was deleted\.$/)
    expect(await list()).toEqual([])
    expect((await admin.get(page)).statusCode).toBe(404)
  })

  it('says until when and why the webhook is paused, and resumes it', async () => {
    const { admin, path, page, webhook } = await startWebhook()
    expect((await admin.get(page)).body).not.toContain('Resume')
    await website.db.execute(sql`
      update webhooks set paused_until = now() + interval '1 hour', pause_reason = 'retry_after', failing_since = now()
      where id = ${webhook.id}`)
    for (const url of [path, page])
      expect((await admin.get(url)).body).toMatch(
        /Paused until\s*<time[^>]*>[^<]*<\/time\s*>, because the receiver asked for it/,
      )
    const resumed = await send(admin, page, '/resume')
    expect(noticeOn(resumed.body)).toBe('The pause was ended.')
    expect(resumed.body).toMatch(/Active, but failing since\s*<time/)
    expect(resumed.body).not.toContain('Resume')
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
    const [delivery] = await eventually(async () => {
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
