import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createWebhooksJobs } from '../../src/areas/webhooks/webhooks.jobs.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, createTeam, del, findJobs, get } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createWebhook } from '../support/webhooks.ts'

const service = await startTestApp()
const { as, db } = service
const url = 'https://hooks.example.com/workspace'
const jobs = createWebhooksJobs({
  db,
  mails: { send: () => Promise.reject(new Error('no mail')) },
  webUrl: service.config.webUrl,
})

const countRows = async (id: string) =>
  (
    await selectRows(
      db,
      sql`select (select count(*)::int from webhooks where id = ${id}) as webhooks,
        (select count(*)::int from webhook_deliveries where webhook_id = ${id}) as deliveries`,
    )
  )[0]

describe('200', () => {
  it('deletes the webhook at once, forgets its secret, and removes it later with its deliveries', async () => {
    const company = await createCompany(service)
    const [webhook, other] = [
      await createWebhook(service, company.owner, company, { url }),
      await createWebhook(service, company.owner, company, { url }),
    ]
    await createTeam(service, company.owner, company)
    expect((await as(company.admin, del(webhook.path))).json()).toEqual({ ok: true })
    for (const path of [webhook.path, `${webhook.path}/deliveries`])
      expectError(await as(company.owner, get(path)), errors.notFound)
    const listed = (await as(company.owner, get(`${company.url}/webhooks`))).json<{ id: string }[]>()
    expect(listed.map(({ id }) => id)).toEqual([other.id])
    const before = await countRows(webhook.id)
    await createTeam(service, company.owner, company)
    expect(await countRows(webhook.id)).toEqual(before)
    expect(
      await selectRows(
        db,
        sql`select length(sealed_secret) as length from webhooks where id = ${webhook.id}`,
      ),
    ).toEqual([{ length: 0 }])

    expect(await findJobs(service, webhook.id)).toEqual([
      { task: 'remove_webhook', payload: { webhookId: webhook.id, requestId: expect.any(String) as string } },
    ])
    const kept = await countRows(other.id)
    for (const id of [webhook.id, webhook.id, other.id])
      await jobs.remove_webhook(
        { webhookId: id },
        {
          ...{ id: '1.a', number: '1', name: 'remove_webhook', attempt: 1 },
          isLastAttempt: false,
        },
      )
    expect(await countRows(webhook.id)).toEqual({ webhooks: 0, deliveries: 0 })
    expect(await countRows(other.id)).toEqual(kept)
  })

  it('makes room for another webhook', async () => {
    const company = await createCompany(service)
    const webhooks = []
    for (let i = 0; i < 20; i++) webhooks.push(await createWebhook(service, company.owner, company, { url }))
    await as(company.owner, del(String(webhooks[0]?.path)))
    await createWebhook(service, company.owner, company, { url })
  })
})

describe('a workspace that is deleted', () => {
  it('takes its webhooks and their deliveries along', async () => {
    const company = await createCompany(service)
    const webhook = await createWebhook(service, company.owner, company, { url })
    expect(await countRows(webhook.id)).toEqual({ webhooks: 1, deliveries: 1 })
    await db.execute(sql`delete from workspaces where id = ${company.workspace.id}`)
    expect(await countRows(webhook.id)).toEqual({ webhooks: 0, deliveries: 0 })
  })
})
