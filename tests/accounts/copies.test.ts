import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { checkInstallation } from '../../src/services/check-installation.ts'
import {
  createCompany,
  createInvite,
  createTeam,
  findJobs,
  get,
  post,
  type TestCompany,
} from '../support/company.ts'
import { createComment } from '../support/comments.ts'
import { untilTrue } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { startMailServer } from '../support/mail-server.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { createPublished } from '../support/published.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { createSeed } from '../support/seeds.ts'
import { clone, selectRows, startTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { keyOf, makeFolder } from '../support/uploads.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'
import { createVisitor, signInAs } from '../website/visitor.ts'

const hour = 60 * 60 * 1000

/** An installation that runs no jobs, and how its copies are started, with the mail server and the receiver of the original. */
async function startOriginal() {
  const clock = createTestClock()
  const [server, receiver] = [await startMailServer(), await startReceiver()]
  const environment = {
    DATABASE_URL: await clone(),
    APP_SECRET: 'that of the original, of 32 characters or more',
    SMTP_URL: server.url,
    BASE_URL: 'http://127.0.0.1:9',
  }
  const deliveries = { pollEveryMs: 20 }
  const start = async (more: Record<string, string> = {}, options: TestAppOptions = {}) =>
    startTestApp({
      ...{ clock, deliveries },
      ...options,
      environment: { ...environment, DATA_DIR: await makeFolder(), ...more },
    })
  const original = await start()
  const company = await createCompany(original)
  return { clock, server, receiver, start, original, company }
}

/** What waits to be sent: an invite, a mention, and a delivery. */
async function fill(original: TestApp, company: TestCompany, url: string) {
  const webhook = await createWebhook(original, company.owner, company, { url })
  const invite = await createInvite(original, company.owner, company)
  const seed = await createSeed(original, company.owner, company)
  await createComment(original, company.owner, seed, { body: `[@Mary](user:${company.member.id})` })
  return { webhook, invite }
}

const deliveriesIn = ({ db }: TestApp) =>
  selectRows<{ status: string; attempts: number; last_error: string | null }>(
    db,
    sql`select status, attempts, last_error from webhook_deliveries`,
  )

const untilIdle = (service: TestApp) => untilTrue(async () => (await findJobs(service, '')).length === 0)

describe('a copy with OUTGOING=off', () => {
  it('writes mails to files, ends their jobs, and attempts no delivery', async () => {
    const { server, receiver, start, original, company } = await startOriginal()
    const { invite, webhook } = await fill(original, company, receiver.url)
    const copy = await start({ OUTGOING: 'off' })
    await copy.services.startJobs()
    await runJobsNow(copy)
    await untilIdle(copy)
    const written = await readdir(join(copy.config.dataDir, 'mail'))
    expect(written.filter((name) => name.endsWith('.eml')).length).toBeGreaterThanOrEqual(2)
    expect(server.connections).toBe(0)
    const [first, ...others] = await deliveriesIn(copy)
    expect(first).toMatchObject({ status: 'pending', attempts: 0, last_error: null })
    for (const delivery of others) expect(delivery).toMatchObject({ status: 'pending', attempts: 0 })
    const shown = (await copy.as(company.owner, get(webhook.path))).json<Record<string, unknown>>()
    expect(shown).toMatchObject({ status: 'active' })
    expect(await selectRows(copy.db, sql`select failing_since from webhooks`)).toEqual([
      { failing_since: null },
    ])
    for (const path of ['test', 'sample']) {
      const body = path === 'sample' ? { type: 'seed.created' } : undefined
      expectError(await copy.as(company.owner, post(`${webhook.path}/${path}`, body)), errors.outgoingOff)
    }
    expect(receiver.received).toEqual([])
    // With OUTGOING=on, the same database sends what waits.
    const again = await start()
    await again.services.startJobs()
    await receiver.waitFor(1)
    expect(invite.email).toContain('@')
  })

  it('fetches no document of agents, and goes on by those that are kept', async () => {
    const { start } = await startOriginal()
    const published = createPublished()
    const { untrustedFetch } = published
    const original = await start({}, { untrustedFetch })
    const agents = createOAuthTester(original)
    const host = await agents.createHost()
    const agent = published.publish()
    const tokens = await agents.getTokens(agent, host)
    published.fetched.length = 0
    const copy = await start({ OUTGOING: 'off' }, { untrustedFetch })
    const inCopy = createOAuthTester(copy)
    const refreshed = await inCopy.refresh(agent, tokens.refresh_token)
    expect(refreshed.statusCode, refreshed.body).toBe(200)
    expect((await inCopy.authorize(published.publish())).statusCode).toBeGreaterThanOrEqual(400)
    expect(published.fetched).toEqual([])
  })

  it('says so on every page, and admin check does', async () => {
    const { start, original, company } = await startOriginal()
    const copy = await start({ OUTGOING: 'off' })
    const bar = 'This is a copy. It sends no emails and nothing to webhooks.'
    const pagesOf = async (service: TestApp) => {
      const visitor = await signInAs(service, company.viewer)
      const paths = [
        '/onboarding',
        `/w/${company.workspace.slug}/people`,
        '/settings/profile',
        '/docs',
        '/nothing',
      ]
      const pages = await Promise.all([
        ...paths.map((path) => visitor.get(path, { accept: 'text/html' })),
        createVisitor(service).get('/sign-in'),
      ])
      return pages.map(({ body }) => body.includes(bar))
    }
    expect(new Set(await pagesOf(copy))).toEqual(new Set([true]))
    expect(new Set(await pagesOf(original))).toEqual(new Set([false]))
    const checksOf = async ({ config }: TestApp) =>
      (await checkInstallation(() => config)).filter(({ check }) => ['outgoing', 'mail'].includes(check))
    expect(await checksOf(copy)).toEqual([
      { check: 'outgoing', ok: true, message: expect.stringMatching(/^OUTGOING=off: /) as string },
      { check: 'mail', ok: true, message: expect.stringMatching(/^OUTGOING=off: /) as string },
    ])
    expect((await checksOf(original)).map(({ check }) => check)).toEqual(['mail'])
  })
})

describe('quarantine', () => {
  it('drops what waits, ends what lets people in, keeps the rest, and what it dropped is never sent', async () => {
    const { clock, server, receiver, start, original, company } = await startOriginal()
    const { invite } = await fill(original, company, receiver.url)
    const visitor = await signInAs(original, company.member)
    const agents = createOAuthTester(original)
    const host = await agents.createHost()
    const agent = await agents.createAgent()
    const tokens = await agents.getTokens(agent, host)
    const { url: link } = await original.services.credentials.createLink('sign_in', company.admin.id)
    // As if the process of the original ran it while the dump was taken.
    await original.db.execute(sql`
      update graphile_worker._private_jobs set locked_at = now(), locked_by = 'worker of the original'
      where id = (select max(id) from graphile_worker.jobs where task_identifier = 'send_invite')`)
    const tables = sql`
      select (select count(*)::int from events) as events, (select count(*)::int from users) as users,
        (select count(*)::int from seeds) as seeds, (select count(*)::int from invites) as invites,
        (select count(*)::int from webhooks where deleted_at is null and disabled_reason is null) as webhooks,
        (select count(*)::int from notifications) as notifications`
    const [before] = await selectRows(original.db, tables)

    const copy = await start({ OUTGOING: 'off' })
    const done = await copy.services.quarantine()
    expect(done).toMatchObject({ sessions: 1, links: 1, grants: 1 })
    expect([done.mails, done.deliveries, done.keys].every((count) => count >= 2)).toBe(true)
    expect(await selectRows(copy.db, tables)).toEqual([before])
    expectError(await copy.as(company.owner, get('/v1/me')), errors.apiKeyRequired)
    expect((await visitor.get('/onboarding')).headers.location).toContain('/sign-in')
    expect((await agents.refresh(agent, tokens.refresh_token)).statusCode).toBe(400)
    expect((await createVisitor(copy).get(new URL(link).pathname)).statusCode).toBe(404)
    // People come in by a new link of an operator.
    expect((await (await signInAs(copy, company.owner)).get('/onboarding')).statusCode).toBe(200)

    clock.advance(2 * hour)
    const again = await start()
    await again.services.startJobs()
    for (const task of ['enqueue_digests', 'enqueue_accepted_invites', 'enqueue_expiry_notices'])
      await again.db.execute(sql`select graphile_worker.add_job(${task}, '{}'::json)`)
    await runJobsNow(again)
    await untilIdle(again)
    // What is new is sent, behind which nothing old can be.
    const fresh = await createCompany(again)
    await createWebhook(again, fresh.owner, fresh, { url: receiver.url, types: ['team.created'] })
    await createTeam(again, fresh.owner, fresh)
    const { email } = await createInvite(again, fresh.owner, fresh)
    await server.nextFor(email)
    await receiver.waitFor(1)
    await untilIdle(again)
    expect(server.received.flatMap(({ recipients }) => recipients)).toEqual([email])
    expect(receiver.received).toHaveLength(1)
    expect((await again.as(fresh.owner, get(`/v1/invites/${invite.token}`))).json()).toMatchObject({
      status: 'pending',
    })
  })
})

describe('admin check --restored', () => {
  it('finds missing pictures and wrong positions, and says what waits', async () => {
    const { start, original, company, receiver } = await startOriginal()
    await fill(original, company, receiver.url)
    const photo = await original.as(company.member, {
      method: 'POST',
      url: '/v1/me/photo',
      ...buildUpload(await makePng()),
    })
    const key = keyOf(photo.json<{ image: string }>().image)
    const check = async ({ config }: TestApp) => {
      const findings = await checkInstallation(() => config, { isRestored: true })
      return Object.fromEntries(
        findings
          .filter((finding) => ['pictures', 'cursors', 'revoked', 'waiting'].includes(finding.check))
          .map(({ check: name, ok, message }) => [name, { ok, message }]),
      )
    }
    const whole = await check(original)
    expect(whole.pictures).toEqual({ ok: true, message: '1 pictures are used, and all are in the storage.' })
    expect(whole.cursors?.message).toMatch(/^The newest event is of 2/)
    expect(whole.revoked?.message).toMatch(/^Keys, .* that were revoked after 2\S+ work again/)
    expect(whole.waiting).toMatchObject({ ok: true })
    expect(whole.waiting?.message).toMatch(
      /^[2-9] mails, [2-9] deliveries to webhooks and 0 other jobs wait\. .*OUTGOING=off/,
    )
    await rm(join(original.config.dataDir, 'uploads', key))
    await original.db.execute(
      sql`update event_positions set last = last + 5 where workspace_id = ${company.workspace.id}`,
    )
    const broken = await check(original)
    expect(broken.pictures?.ok).toBe(false)
    expect(broken.pictures?.message).toContain(`1 of 1 used pictures are not in the storage: ${key}.`)
    expect(broken.cursors?.ok).toBe(false)
    expect(broken.cursors?.message).toContain(company.workspace.slug)
    const copy = await start({ OUTGOING: 'off' })
    await copy.services.quarantine()
    expect((await check(copy)).waiting?.message).toBe(
      '0 mails, 0 deliveries to webhooks and 0 other jobs wait.',
    )
  })
})
