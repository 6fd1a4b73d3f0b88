import { describe, expect, it } from 'vitest'
import { sql } from 'drizzle-orm'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, patch } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWebhook } from '../support/webhooks.ts'
import { findEvents } from '../support/workspaces.ts'

const service = await startTestApp()
const { as, db } = service
const url = 'https://hooks.example.com/workspace'

async function startWebhook() {
  const company = await createCompany(service)
  const webhook = await createWebhook(service, company.owner, company, { url, types: ['team.created'] })
  const read = async () => (await as(company.owner, get(webhook.path))).json<Record<string, unknown>>()
  const change = (body: object) => as(company.owner, patch(webhook.path, body))
  const summaries = async () => (await findEvents(service, company.workspace)).map(({ summary }) => summary)
  return { company, webhook, read, change, summaries }
}

describe('200', () => {
  it('changes the given fields only, with an event', async () => {
    const { read, change, summaries } = await startWebhook()
    const before = await read()
    for (const fields of [
      { url: 'https://other.example/x' },
      { types: ['seed.created', 'seed.updated'] },
      { types: [] },
      { description: 'To the chat' },
    ]) {
      const kept = await read()
      const answer = await change(fields)
      expect([answer.statusCode, answer.json()]).toEqual([200, { ok: true }])
      expect(await read()).toEqual({ ...kept, ...fields })
    }
    expect((await change({ description: '' })).statusCode).toBe(200)
    expect(await read()).toEqual({ ...before, url: 'https://other.example/x', types: [] })
    expect((await summaries()).slice(-2)).toEqual(
      Array(2).fill('Olga Owner changed the webhook to other.example'),
    )
  })

  it('appends no event when nothing changes', async () => {
    const { change, summaries } = await startWebhook()
    const before = await summaries()
    for (const body of [{}, { url, types: ['team.created'], description: '', status: 'active' }])
      expect((await change(body)).statusCode).toBe(200)
    expect(await summaries()).toEqual(before)
  })

  it('disables and enables a webhook, which then forgets that it was failing', async () => {
    const { webhook, read, change, summaries } = await startWebhook()
    await change({ status: 'disabled' })
    expect(await read()).toMatchObject({ status: 'disabled', disabledReason: 'manual' })
    await db.execute(sql`update webhooks set disabled_reason = 'failing', failing_since = now() - interval '4 days',
      slowed_count = 3, paused_until = now() + interval '1 hour' where id = ${webhook.id}`)
    await change({ status: 'disabled' })
    expect(await read()).toMatchObject({ disabledReason: 'failing' })
    await change({ status: 'active' })
    expect(await read()).toMatchObject({ status: 'active', disabledReason: null })
    const { rows } = await db.execute(
      sql`select failing_since, slowed_count, paused_until from webhooks where id = ${webhook.id}`,
    )
    expect(rows).toEqual([{ failing_since: null, slowed_count: 0, paused_until: null }])
    expect((await summaries()).slice(-2)).toEqual([
      'Olga Owner disabled the webhook to hooks.example.com',
      'Olga Owner enabled the webhook to hooks.example.com',
    ])
  })
})

describe('400', () => {
  it('returns webhook_url_invalid and decode_error, and changes nothing', async () => {
    const { read, change } = await startWebhook()
    const before = await read()
    expectError(await change({ url: 'http://hooks.example.com/' }), errors.webhookUrlInvalid, {
      field: 'url',
    })
    const answer = await change({ status: 'paused', disabledReason: null })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(
      expect.arrayContaining([
        { _tag: 'Unexpected', path: ['disabledReason'] },
        { _tag: 'Type', path: ['status'] },
      ]),
    )
    expect(await read()).toEqual(before)
  })
})
