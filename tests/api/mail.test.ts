import { randomUUID } from 'node:crypto'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { afterEach, describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/config.ts'
import { createLogger } from '../../src/http/answers/logging.ts'
import { errors } from '../../src/kernel/errors.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { formatTime } from '../../src/mail/times.ts'
import { createServices } from '../../src/services/services.ts'
import {
  addPerson,
  createCompany,
  createInvite,
  del,
  findInvite,
  get,
  patch,
  post,
  randomEmail,
  tokenOf,
} from '../support/company.ts'
import { dumpDatabase } from '../support/dump-database.ts'
import { untilTrue } from '../support/eventually.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { startMailServer, type ReceivedMail } from '../support/mail-server.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { clone, selectRows, startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { makeFolder } from '../support/uploads.ts'
import { startReceiver } from '../support/webhook-receiver.ts'
import { createWebhook } from '../support/webhooks.ts'

const webUrl = 'https://app.example.com'

const clock = createTestClock()
const server = await startMailServer()
const environment = {
  SMTP_URL: server.url,
  MAIL_FROM: 'Acme <post@mail.example.com>',
  WEB_URL: webUrl,
}

/** With a worker that sends what changes leave. */
const service = await startTestApp({ clock, environment })
const { as, createPerson, db } = service
await service.services.startJobs()

/** Without one: what changes leave lies there. */
const idle = await startTestApp({ environment: { ...environment, DATABASE_URL: await clone() } })

// Whatever a test did to the server, the next one finds it well, and nothing left to be sent.
afterEach(async () => {
  for (const key of Object.keys(server.mood)) Reflect.deleteProperty(server.mood, key)
  await retryNow()
  await untilDone()
  server.received.length = 0
})

const jobsOf = ({ db }: Pick<TestApp, 'db'> = service) =>
  selectRows<{ id: string; attempts: number; last_error: string | null; locked_at: unknown; run_at: string }>(
    db,
    sql`select id, attempts, last_error, locked_at, run_at from graphile_worker.jobs order by id`,
  )

/** Waits until every job has been done. */
const untilDone = (of: TestApp = service) => untilTrue(async () => (await jobsOf(of)).length === 0)

/** Waits until the attempts at every job have failed at least so often. */
const untilFailed = (attempts = 1) =>
  untilTrue(async () =>
    (await jobsOf()).every((job) => job.attempts >= attempts && job.last_error && !job.locked_at),
  )

/** Ends the pause before the next attempt. */
const retryNow = () => runJobsNow(service)

/** Lets the server take mail again, and sees that none comes. */
async function expectNothingSent(): Promise<void> {
  delete server.mood.refusesWith
  await retryNow()
  await untilDone()
  expect(server.received).toEqual([])
}

/** The only link in the text of a mail. */
function linkIn({ parsed }: Pick<ReceivedMail, 'parsed'>): string {
  const links = parsed.text?.match(/https?:\/\/(?!\S+\/settings\/notifications)\S+/g)
  expect(links).toHaveLength(1)
  return String(links?.[0])
}

/** It has a link that turns such mails off by a POST (RFC 8058). */
function expectUnsubscribable({ header }: ReceivedMail): void {
  const [, link = ''] = /^<(.*)>$/.exec(String(header('list-unsubscribe'))) ?? []
  expect(link.startsWith(`${webUrl}/unsubscribe/`)).toBe(true)
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
}

describe('the mail of an invite', () => {
  it('sends a mail with a working link to the invited address', async () => {
    const company = await createCompany(service)
    const person = await createPerson({ name: 'Ivy Invited' })
    const invite = await createInvite(service, company.owner, company, {
      email: person.email,
      role: 'viewer',
    })
    const mail = await server.nextFor(person.email)
    expect(mail.recipients).toEqual([person.email])
    expect(mail.parsed).toMatchObject({
      from: { name: 'Acme', address: 'post@mail.example.com' },
      to: [{ address: person.email }],
      subject: 'Olga Owner invited you to Acme',
    })
    expect(mail.parsed.cc).toBeUndefined()
    expect(mail.parsed.bcc).toBeUndefined()
    expect(mail.parsed.text?.replaceAll(/\s+/g, ' ')).toContain(
      'join the workspace Acme as viewer. Olga Owner invited you.',
    )
    expect(mail.parsed.text?.replaceAll(/\s+/g, ' ')).toContain(
      `It expires in 7 days, on ${formatTime(new Date(invite.expiresAt))}.`,
    )
    const link = linkIn(mail)
    expect(link).toMatch(new RegExp(`^${webUrl}/invites/[A-Za-z0-9_-]{43}$`))
    expect(mail.parsed.html).toContain(`<a href="${link}">`)

    const preview = await as(person, get(`/v1/invites/${tokenOf(link)}`))
    expect(preview.json()).toMatchObject({ status: 'pending', email: person.email, emailMatches: true })
    expect((await as(person, post(`/v1/invites/${tokenOf(link)}/accept`))).json()).toMatchObject({
      ok: true,
      role: 'viewer',
    })
  })

  it('sends valid headers and line lengths, and no List-Unsubscribe', async () => {
    const company = await createCompany(service)
    const before = Date.now()
    const { email } = await createInvite(service, company.owner, company)
    const { header, parsed, raw } = await server.nextFor(email)
    expect(header('message-id')).toMatch(/^<invite-\d+\.\w+@mail\.example\.com>$/)
    const sentAt = Date.parse(String(header('date')))
    expect(sentAt).toBeGreaterThanOrEqual(before - 1_000)
    expect(sentAt).toBeLessThanOrEqual(Date.now() + 1_000)
    expect(header('mime-version')).toBe('1.0')
    expect(header('content-type')).toMatch(/^multipart\/alternative;/)
    expect(header('auto-submitted')).toBe('auto-generated')
    // It was asked for by nobody else than who invited: there is nothing to turn off.
    expect(header('list-unsubscribe')).toBeUndefined()
    expect(parsed.html).toMatch(/^<!doctype html>/)
    // RFC 5321 §4.5.3.1.6, and RFC 5322 §2.1.1 for lines that people may read.
    for (const line of raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
    expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  it('sets lastSentAt after the mail was sent', async () => {
    server.mood.refusesWith = 450
    const company = await createCompany(service)
    const invite = await createInvite(service, company.owner, company)
    await untilFailed()
    expect(await findInvite(service, invite)).toMatchObject({ last_sent_at: null })
    delete server.mood.refusesWith
    clock.advance(60_000)
    await retryNow()
    await untilDone()
    const answer = await as(company.owner, get(`${company.url}/invites`))
    expect(answer.json()).toMatchObject([{ lastSentAt: clock.now().toISOString() }])
  })

  it('sends a new link when the invite is resent, and the earlier links return 404', async () => {
    const company = await createCompany(service)
    const invite = await createInvite(service, company.owner, company)
    const first = tokenOf(linkIn(await server.nextFor(invite.email)))
    const answer = await as(company.owner, post(`${company.url}/invites/${invite.id}/resend`))
    const second = tokenOf(linkIn(await server.nextFor(invite.email)))
    const resent = tokenOf(answer.json<{ inviteUrl: string }>().inviteUrl)
    expect(new Set([first, second, invite.token, resent]).size).toBe(4)
    for (const token of [first, invite.token])
      expectError(await as(company.owner, get(`/v1/invites/${token}`)), errors.notFound)
    for (const token of [second, resent])
      expect((await as(company.owner, get(`/v1/invites/${token}`))).statusCode).toBe(200)
  })

  it('sends no mail when the invite was revoked before', async () => {
    server.mood.refusesWith = 450
    const company = await createCompany(service)
    const invite = await createInvite(service, company.owner, company)
    await untilFailed()
    await as(company.owner, post(`${company.url}/invites/${invite.id}/revoke`))
    await expectNothingSent()
  })

  it('sends no mail when the invite has expired before', async () => {
    server.mood.refusesWith = 450
    const company = await createCompany(service)
    await createInvite(service, company.owner, company)
    await untilFailed()
    clock.advance(7 * 24 * 60 * 60 * 1000)
    await expectNothingSent()
  })

  it('sends no mail when the request returned 409', async () => {
    const company = await createCompany(idle)
    const { email } = company.member
    const answer = await idle.as(company.owner, post(`${company.url}/invites`, { email, role: 'viewer' }))
    expectError(answer, errors.alreadyMember)
    expect(await jobsOf(idle)).toEqual([])
  })
})

describe('a notification', () => {
  const setActivity = (person: { apiKey: string }, workspaceActivity: boolean) =>
    as(person, patch('/v1/me/preferences', { productUpdates: false, workspaceActivity }))

  it('tells members their new role, and how to turn notifications off', async () => {
    const { url, admin, member } = await createCompany(service)
    await as(admin, patch(`${url}/members/${member.id}`, { role: 'viewer' }))
    const mail = await server.nextFor(member.email)
    expect(mail.parsed).toMatchObject({
      to: [{ name: 'Mary Member', address: member.email }],
      subject: 'Your role in Acme is now viewer',
    })
    expect(mail.parsed.text).toContain('Adam Admin changed your role in the workspace Acme to viewer.')
    expect(linkIn(mail)).toBe(`${webUrl}/w/${url.split('/').at(-1)}`)
    expectUnsubscribable(mail)
    expect(mail.header('message-id')).toMatch(/^<role-changed-\d+\.\w+@mail\.example\.com>$/)
    expect(mail.header('auto-submitted')).toBe('auto-generated')
    expect(mail.parsed.html).toContain('Adam Admin changed your role')
  })

  it('sends no notifications to users who have turned them off, but still sends invites', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, member } = company
    for (const person of [admin, member]) await setActivity(person, false)
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'viewer' }))
    const person = await createPerson()
    await setActivity(person, false)
    const { token } = await createInvite(service, admin, company, { email: person.email })
    await server.nextFor(person.email)
    await as(person, post(`/v1/invites/${token}/accept`))
    await untilDone()
    expect(server.received).toHaveLength(1)

    await setActivity(member, true)
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'member' }))
    expect((await server.nextFor(member.email)).parsed.subject).toBe('Your role in Acme is now member')
  })

  it('sends no notification for a change to oneself, for no change and for a refused change', async () => {
    const { url, owner, admin, member } = await createCompany(idle)
    await idle.as(admin, patch(`${url}/members/${admin.id}`, { role: 'member' }))
    await idle.as(owner, patch(`${url}/members/${member.id}`, { role: 'member' }))
    await idle.as(owner, patch(`${url}/members/${owner.id}`, { role: 'member' }))
    await idle.as(member, patch(`${url}/members/${owner.id}`, { role: 'viewer' }))
    expect(await jobsOf(idle)).toEqual([])
  })

  it('sends no notification to a member who was removed before', async () => {
    server.mood.refusesWith = 450
    const { url, owner, member } = await createCompany(service)
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'viewer' }))
    await untilFailed()
    await as(owner, del(`${url}/members/${member.id}`))
    await expectNothingSent()
  })
})

describe('a webhook that the service disables', () => {
  it('is reported to the owners, and to nobody else', async () => {
    const company = await createCompany(service)
    const another = await addPerson(service, company.workspace, 'owner')
    const receiver = await startReceiver()
    receiver.answer((response) => response.writeHead(410).end())
    const webhook = await createWebhook(service, company.admin, company, { url: receiver.url })
    for (const owner of [company.owner, another]) {
      const mail = await server.nextFor(owner.email)
      expect(mail.parsed.subject).toBe('A webhook of Acme was disabled')
      expect(mail.parsed.text?.replaceAll(/\s+/g, ' ')).toContain(
        'was disabled, because its receiver answered that it is gone (410)',
      )
      expect(mail.parsed.text).not.toContain('/hook')
      expect(linkIn(mail)).toBe(`${webUrl}/w/${company.workspace.slug}/settings/webhooks/${webhook.id}`)
      expect(mail.header('message-id')).toMatch(/^<webhook-disabled-\d+\.\w+@mail\.example\.com>$/)
    }
    await untilDone()
    expect(server.received).toHaveLength(2)
  })
})

describe('names of users and workspaces in mails', () => {
  const evil = `<script>alert("x")</script> & 'Co' <img src=x> ünïcødé 漢字 🧑`

  it('escapes names in HTML, and leaves them unchanged in text and subject', async () => {
    const company = await createCompany(service)
    await as(company.owner, patch('/v1/me', { name: evil }))
    await as(company.owner, patch(company.url, { name: evil, slug: company.workspace.slug }))
    const { email } = await createInvite(service, company.owner, company)
    const { parsed, header } = await server.nextFor(email)
    expect(parsed.subject).toBe(`${evil} invited you to ${evil}`)
    expect(parsed.text?.replaceAll(/\s+/g, ' ')).toContain(
      `join the workspace ${evil} as member. ${evil} invited you.`,
    )
    expect(parsed.html).not.toMatch(/<script|<img/)
    expect(parsed.html?.replaceAll(/\s+/g, ' ')).toContain(
      '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;Co&#39;',
    )
    // As it goes over the wire, the subject is ASCII (RFC 2047).
    expect(header('subject')).toBeDefined()
  })

  it('does not let a name add recipients', async () => {
    const { url, owner, member } = await createCompany(service)
    const name = `Eve" <eve@evil.example>, "x, y; <z@evil.example>`
    expect((await as(member, patch('/v1/me', { name }))).statusCode).toBe(200)
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'viewer' }))
    const mail = await server.nextFor(member.email)
    expect(mail.recipients).toEqual([member.email])
    expect(mail.parsed.to).toEqual([{ address: member.email, name }])
  })

  it('stores a name with a line break as one line, and returns 400 for an address with one', async () => {
    const { url, workspace, owner } = await createCompany(service)
    for (const breaks of ['\r\n', '\n', '\r', '\u2028', '\u0085']) {
      const name = `a${breaks}Bcc: eve@evil.example`
      const answers = await Promise.all([
        as(owner, patch('/v1/me', { name })),
        as(owner, patch(url, { name, slug: workspace.slug })),
        as(owner, post(`${url}/invites`, { email: `x@example.com${name}`, role: 'member' })),
      ])
      expect(
        answers.map((answer) => answer.statusCode),
        name,
      ).toEqual([200, 200, 400])
      for (const path of ['/v1/me', url])
        expect((await as(owner, get(path))).json()).toMatchObject({ name: 'a Bcc: eve@evil.example' })
    }
  })

  it('returns 400 for a name with NUL', async () => {
    const { url, workspace, owner } = await createCompany(service)
    for (const request of [
      patch('/v1/me', { name: 'a\0b' }),
      patch(url, { name: 'a\0b', slug: workspace.slug }),
    ])
      expectError(await as(owner, request), errors.decodeError, { issues: anyIssues })
  })

  it('does not let a name add headers, even with a line break in the database', async () => {
    const { url, workspace, owner, member } = await createCompany(service)
    const injected = 'x\r\nBcc: eve@evil.example\r\n\r\nBody'
    await service.db.execute(sql`update users set name = ${injected} where id = ${member.id}`)
    await service.db.execute(sql`update workspaces set name = ${injected} where id = ${workspace.id}`)
    await as(owner, patch(`${url}/members/${member.id}`, { role: 'viewer' }))
    const mail = await server.nextFor(member.email)
    expect(mail.recipients).toEqual([member.email])
    expect(mail.header('bcc')).toBeUndefined()
    expect(mail.raw.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/im)
  })
})

describe('the token of an invite', () => {
  it('stores no token as plain text in the database, the jobs or the log', async () => {
    server.mood.failsWith = 451
    const company = await createCompany(service)
    const person = await createPerson()
    const created = await as(company.owner, {
      ...post(`${company.url}/invites`, { email: person.email, role: 'member' }),
      headers: { 'idempotency-key': randomUUID() },
    })
    const { invite, inviteUrl } = created.json<{ invite: { id: string }; inviteUrl: string }>()
    const mailed = tokenOf(linkIn(await server.nextFor(person.email)))
    await untilFailed()
    const resent = await as(company.owner, {
      ...post(`${company.url}/invites/${invite.id}/resend`),
      headers: { 'idempotency-key': randomUUID() },
    })
    const resentToken = tokenOf(resent.json<{ inviteUrl: string }>().inviteUrl)
    const tokens = [tokenOf(inviteUrl), mailed, resentToken]
    await as(person, get(`/v1/invites/${resentToken}`))
    await as(person, post(`/v1/invites/${resentToken}/accept`))

    const stored = await dumpDatabase(service)
    expect(stored).toContain(invite.id)
    expect(stored).toContain('send_invite')
    for (const token of tokens) {
      expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/)
      const bytes = Buffer.from(token, 'base64url')
      const forms = [
        token,
        bytes.toString('hex'),
        Buffer.from(token).toString('hex'),
        bytes.toString('base64'),
      ]
      for (const form of forms) expect(stored.includes(form)).toBe(false)
      expect(service.log.some((line) => line.includes(token))).toBe(false)
    }
    expect(await selectRows(db, sql`select 1 as one from idempotent_requests`)).toHaveLength(2)
  })
})

describe('the mail server', () => {
  it('sends the mail later when the server was down during the request', async () => {
    await server.stop()
    const company = await createCompany(service)
    const invite = await createInvite(service, company.owner, company)
    await untilFailed()
    const [job] = await jobsOf()
    expect(Date.parse(String(job?.run_at))).toBeGreaterThan(Date.now())
    expect(service.log.some((line) => line.includes('job failed; will retry'))).toBe(true)

    await server.start()
    await retryNow()
    const token = tokenOf(linkIn(await server.nextFor(invite.email)))
    expect((await as(company.owner, get(`/v1/invites/${token}`))).statusCode).toBe(200)
    await untilDone()
    expect(server.received).toHaveLength(1)
  })

  it('does not delay requests when the server is slow', async () => {
    let greet = (): void => undefined
    server.mood.greetsAfter = new Promise<void>((resolve) => {
      greet = resolve
    })
    const { connections } = server
    const company = await createCompany(service)
    const invites = []
    for (let i = 0; i < 10; i++) invites.push(await createInvite(service, company.owner, company))
    // All of them are answered, and nobody has been greeted yet.
    await untilTrue(() => server.connections > connections)
    expect(server.received).toEqual([])
    greet()
    await Promise.all(invites.map(({ email }) => server.nextFor(email)))
    await untilDone()
    expect(server.received).toHaveLength(10)
  })

  it.each([
    ['refuses temporarily (450)', { refusesWith: 450 }],
    ['refuses by a policy (550 5.7.1)', { refusesWith: 550, refuses: { text: '5.7.1 not allowed' } }],
    ['refuses permanently (552)', { refusesWith: 552 }],
    ['fails after receiving the mail (451)', { failsWith: 451 }],
    ['rejects the mail as spam (554)', { failsWith: 554 }],
  ])('retries the mail with the same Message-ID when the server %s', async (_name, mood) => {
    Object.assign(server.mood, mood)
    const company = await createCompany(service)
    const { email } = await createInvite(service, company.owner, company)
    await untilFailed()
    await retryNow()
    await untilFailed(2)
    delete server.mood.refusesWith
    delete server.mood.refuses
    delete server.mood.failsWith
    await retryNow()
    await untilDone()
    const ids = server.received.map(({ header }) => header('message-id'))
    expect(ids).toHaveLength('failsWith' in mood ? 3 : 1)
    expect(new Set(ids).size).toBe(1)
    const [last] = server.received.slice(-1).map((mail) => ({ to: mail.recipients, link: linkIn(mail) }))
    expect(last?.to).toEqual([email])
    const token = tokenOf(String(last?.link))
    expect((await as(company.owner, get(`/v1/invites/${token}`))).statusCode).toBe(200)
  })

  it('sends no mail for a change that was rolled back', async () => {
    const company = await createCompany(idle)
    const { id } = company.workspace
    await idle.db.execute(
      sql.raw(`alter table events add constraint refused check (workspace_id <> '${id}') not valid`),
    )
    const email = randomEmail()
    const answer = await idle.as(company.owner, post(`${company.url}/invites`, { email, role: 'member' }))
    await idle.db.execute(sql`alter table events drop constraint refused`)
    expectError(answer, errors.internal)
    expect(await jobsOf(idle)).toEqual([])
    expect(await selectRows(idle.db, sql`select id from invites where email = ${email}`)).toEqual([])
  })

  it('sends the mails of a process that stopped right after the change', async () => {
    const url = await clone()
    const first = await startTestApp({ environment: { ...environment, DATABASE_URL: url } })
    const company = await createCompany(first)
    const invite = await createInvite(first, company.owner, company)
    await first.as(company.owner, patch(`${company.url}/members/${company.viewer.id}`, { role: 'member' }))
    await first.close()
    expect(server.received).toEqual([])

    const second = await startTestApp({ environment: { ...environment, DATABASE_URL: url } })
    await second.services.startJobs()
    await Promise.all([server.nextFor(invite.email), server.nextFor(company.viewer.email)])
    await untilDone(second)
    expect(server.received).toHaveLength(2)
  })
})

describe('without a mail server', async () => {
  const dataDir = await makeFolder()
  const folder = join(dataDir, 'mail')
  const writing = await startTestApp({
    environment: { DATABASE_URL: await clone(), DATA_DIR: dataDir, WEB_URL: webUrl },
  })

  /** Runs a worker with these settings until all is done; returns what it logged. */
  async function sendAll(config: Config): Promise<string[]> {
    const log: string[] = []
    const logger = createLogger('info', { write: (line) => void log.push(line) })
    const services = createServices({ config, db: writing.db, clock: systemClock, log: logger })
    await services.startJobs()
    await untilDone(writing)
    await services.close()
    return log
  }

  it('writes a mail to a file that only its owner may read', async () => {
    const company = await createCompany(writing)
    const invite = await createInvite(writing, company.owner, company)
    const log = await sendAll(writing.config)
    const [name = '', ...others] = await readdir(folder)
    expect(others).toEqual([])
    expect(name).toMatch(/^\d{4}-\d\d-\d\dT[\d.-]+Z-invite-\d+\.\w+\.eml$/)
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    const parsed = await PostalMime.parse(await readFile(join(folder, name)))
    expect(parsed).toMatchObject({ to: [{ address: invite.email }], from: { address: 'no-reply@localhost' } })
    const token = tokenOf(linkIn({ parsed }))
    expect((await writing.as(company.owner, get(`/v1/invites/${token}`))).statusCode).toBe(200)
    // On a database that was given, nobody tries things out: the log tells of the mail, not of its link.
    const lines = log.filter((line) => line.includes('mail was written'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toContain(token)
    expect(lines[0]).not.toContain('/invites/')
    await rm(folder, { recursive: true })
  })

  it('logs the link when the embedded database is used', async () => {
    const company = await createCompany(writing)
    await createInvite(writing, company.owner, company)
    const log = await sendAll({ ...writing.config, databaseUrl: undefined })
    const [name = ''] = await readdir(folder)
    const link = linkIn({ parsed: await PostalMime.parse(await readFile(join(folder, name))) })
    expect(log.filter((line) => line.includes(link))).toHaveLength(1)
  })
})
