import { sql } from 'drizzle-orm'
import PostalMime from 'postal-mime'
import { beforeEach, describe, expect, it } from 'vitest'
import { letAgentIn } from '../support/agent-caller.ts'
import { createComment } from '../support/comments.ts'
import { addPerson, createCompany, createInvite, del, patch, post } from '../support/company.ts'
import { untilTrue } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { findNotifications, insertNotification } from '../support/notifications.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { addEvidence, createSeed, insertGrant } from '../support/seeds.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { deleteWorkspace } from '../support/workspaces.ts'

const hourMs = 60 * 60 * 1000
const clock = createTestClock()
const server = await startMailServer()
const service = await startTestApp({
  clock,
  environment: { SMTP_URL: server.url, WEB_URL: 'https://app.example.com' },
})
const { as, createPerson, db, services } = service
await services.startJobs()

beforeEach(async () => {
  await runAll()
})

const mailsTo = ({ email }: { email: string }) =>
  server.received.filter(({ recipients }) => recipients.includes(email))
const subjectsTo = (person: { email: string }) => mailsTo(person).map(({ parsed }) => parsed.subject)

async function untilDone(): Promise<void> {
  const isDone = async () =>
    (await selectRows(db, sql`select 1 from graphile_worker.jobs where attempts < max_attempts limit 1`))
      .length === 0
  await untilTrue(isDone)
}

/** Runs all jobs that wait, also those for later. */
async function runAll(): Promise<void> {
  await runJobsNow(service)
  await untilDone()
}

/** Does what is done once an hour, a day later. */
async function runDigests(): Promise<void> {
  clock.advance(25 * hourMs)
  await db.execute(sql`select graphile_worker.add_job('enqueue_digests', '{}'::json)`)
  await runAll()
}

/** A company with a reader who follows a seed of the member. */
async function setUp() {
  const company = await createCompany(service)
  const seed = await createSeed(service, company.member, company, { title: 'Secret plan' })
  const reader = await addPerson(service, company.workspace, 'member', 'Rita Reader')
  await as(reader, post(`/v1/seeds/${seed.id}/follow`))
  await runAll()
  return { company, seed, reader }
}

const mention = ({ id, name }: TestPerson) => `What does [@${name}](user:${id}) say?`

/** What can happen between the event and the mail, after which the reader is told nothing of it. */
type Setting = Awaited<ReturnType<typeof setUp>>
const between: [string, (setting: Setting) => Promise<unknown>][] = [
  ['was removed', ({ company, reader }) => as(company.owner, del(`${company.url}/members/${reader.id}`))],
  ['has left', ({ company, reader }) => as(reader, del(`${company.url}/members/${reader.id}`))],
  [
    'is leaving the service',
    ({ reader }) =>
      db.execute(sql`insert into leavings (user_id, requested_at) values (${reader.id}, now())`),
  ],
  ['has left the service', ({ reader }) => services.accounts.delete(reader.id, { withWorkspaces: false })],
  [
    'has an address that nobody has verified',
    ({ reader }) => db.execute(sql`update users set email_verified_at = null where id = ${reader.id}`),
  ],
  [
    'has turned mails off',
    ({ reader }) =>
      as(reader, patch('/v1/me/preferences', { productUpdates: true, workspaceActivity: false })),
  ],
  ['reads it in a deleted seed', ({ company, seed }) => as(company.owner, del(`/v1/seeds/${seed.id}`))],
  [
    'reads it in a deleted workspace',
    ({ company }) => deleteWorkspace(service, company.owner, company.workspace),
  ],
]

describe('a person who', () => {
  it.each(between)('%s meanwhile gets no mail about a mention, and no digest', async (how, happen) => {
    const setting = await setUp()
    const { company, seed, reader } = setting
    await createComment(service, company.member, seed, { body: mention(reader) })
    await addEvidence(service, company.member, seed)
    await insertNotification(
      service,
      { workspaceId: company.workspace.id, userId: reader.id },
      { createdAt: clock.now() },
    )
    const { length } = mailsTo(reader)
    await happen(setting)
    await runAll()
    await runDigests()
    const told = subjectsTo(reader).slice(length)
    // In a deleted seed, what is about something else is told all the same.
    const isSeedGone = how === 'reads it in a deleted seed'
    expect(told).toHaveLength(isSeedGone ? 1 : 0)
    expect(told.join()).not.toMatch(/Secret plan|mentioned/)
  })

  it.each(between.filter(([how]) => how !== 'reads it in a deleted seed'))(
    '%s meanwhile gets no mail about the role, an accepted invite, or the end of an agent’s access',
    async (_, happen) => {
      const setting = await setUp()
      const { company, reader } = setting
      const { id: workspaceId } = company.workspace
      await as(company.owner, patch(`${company.url}/members/${reader.id}`, { role: 'admin' }))
      const grant = await insertGrant(service, company.workspace, reader, { createdAt: clock.now() })
      const invited = await createPerson({ name: 'Ida' })
      const { id: inviteId, token } = await createInvite(service, reader, company, { email: invited.email })
      await as(invited, post(`/v1/invites/${token}/accept`))
      await runAll()
      const sendAgain = async () => {
        for (const [task, payload] of [
          ['send_role_changed', { workspaceId, userId: reader.id, role: 'admin', actorName: 'Olga Owner' }],
          ['send_invite_accepted', { inviteId, memberName: 'Ida' }],
          ['send_access_ends', { grantId: grant.id, expiresAt: grant.expiresAt }],
        ] as const)
          await db.execute(sql`select graphile_worker.add_job(${task}, ${JSON.stringify(payload)}::json)`)
        const { length } = mailsTo(reader)
        await runAll()
        return subjectsTo(reader)
          .slice(length)
          .filter((subject) => subject?.includes('Acme'))
      }
      expect(await sendAgain()).toHaveLength(3)
      await happen(setting)
      expect(await sendAgain()).toEqual([])
    },
  )

  it('was made a viewer is told of seeds, which viewers read, and of no invite or webhook', async () => {
    const { company, seed, reader } = await setUp()
    await as(company.owner, patch(`${company.url}/members/${reader.id}`, { role: 'viewer' }))
    await createComment(service, company.member, seed, { body: mention(reader) })
    await createInvite(service, company.owner, company)
    await runAll()
    expect(subjectsTo(reader)).toEqual([
      'Your role in Acme is now viewer',
      'Mary Member mentioned you in Secret plan',
    ])
  })

  it('verifies the address later is not mailed what is long past', async () => {
    const { company, seed, reader } = await setUp()
    await db.execute(sql`update users set email_verified_at = null where id = ${reader.id}`)
    await addEvidence(service, company.member, seed)
    await runDigests()
    await db.execute(sql`update users set email_verified_at = now() where id = ${reader.id}`)
    await runDigests()
    expect(mailsTo(reader)).toEqual([])
    expect(await findNotifications(service, reader)).toMatchObject([{ isRead: false, isMailed: true }])
  })

  it('is no member, a stranger or of another workspace is told of no mention', async () => {
    const { company, seed } = await setUp()
    const other = await createCompany(service)
    const stranger = await createPerson({ name: 'Sam Stranger' })
    const body = [stranger, other.member, other.owner].map(mention).join(' ')
    await createComment(service, company.member, seed, { body })
    await runAll()
    await runDigests()
    for (const person of [stranger, other.member, other.owner]) {
      expect(await findNotifications(service, person)).toEqual([])
      expect(mailsTo(person)).toEqual([])
    }
  })
})

describe('what is gone by the time of the mail', () => {
  it('is in none: a deleted comment, an edited mention, a former address', async () => {
    const { company, seed, reader } = await setUp()
    const { member } = company
    const deleted = await createComment(service, member, seed, { body: mention(reader) })
    expect((await as(member, del(`/v1/comments/${deleted.id}`))).statusCode).toBe(200)
    await runAll()
    await runDigests()
    expect(mailsTo(reader)).toEqual([])

    await createComment(service, member, seed, { body: mention(reader) })
    const former = { email: reader.email }
    const email = `new-${reader.email}`
    await db.execute(
      sql`update users set email = ${email}, canonical_email = ${email} where id = ${reader.id}`,
    )
    await runAll()
    expect(mailsTo(former)).toEqual([])
    expect(subjectsTo({ email })).toEqual(['Mary Member mentioned you in Secret plan'])
  })

  it('is told without a text: a digest quotes neither withdrawn evidence nor deleted comments', async () => {
    const { company, seed, reader } = await setUp()
    const evidence = await addEvidence(service, company.member, seed, {
      summary: 'A customer by name said so',
      sourceUrl: 'https://evil.example/source',
    })
    await as(company.member, post(`/v1/evidence/${evidence.id}/withdraw`, { reason: 'It named a customer' }))
    const { id } = await createComment(service, company.member, seed, { body: 'A secret comment' })
    await as(company.member, del(`/v1/comments/${id}`))
    await runDigests()
    const [mail] = mailsTo(reader)
    expect(mail?.raw).toBeDefined()
    for (const text of [mail?.parsed.text, mail?.parsed.html])
      expect(text).not.toMatch(/customer|evil\.example|secret comment/i)
  })
})

describe('names and titles in mails', () => {
  const hostile = [
    '</p><a href="https://evil.example">Click</a><img src=x onerror=alert(1)>',
    '=?utf-8?Q?Your_password_expires:_evil.example/pay?=',
    'A =?utf-8?B?4oCuZ25w?= B =?utf-8?Q?=0D=0ABcc:_x@evil.example?=',
    '" <x@evil.example>, "',
    'a@b.example, Bcc: x@evil.example',
    '${{7*7}} {{constructor}} %0d%0aBcc: x@evil.example',
    '=?',
    `=?${'é'.repeat(60)}?=`,
  ]

  it.each(hostile)('stay text in subject and body, and add no header or recipient: %s', async (title) => {
    const { company, reader } = await setUp()
    const seed = await createSeed(service, company.member, company, { title })
    await createComment(service, company.member, seed, { body: mention(reader) })
    await runAll()
    const [mail, ...others] = mailsTo(reader)
    expect(others).toEqual([])
    expect(mail?.recipients).toEqual([reader.email])
    const parsed = await PostalMime.parse(mail?.raw ?? '')
    expect(parsed.subject).toBe(`Mary Member mentioned you in ${title}`)
    expect(parsed.to).toEqual([{ name: 'Rita Reader', address: reader.email }])
    expect([parsed.cc, parsed.bcc]).toEqual([undefined, undefined])
    expect(parsed.html).not.toMatch(/<img|href="https:\/\/evil/)
    for (const line of (mail?.raw ?? '').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
  })

  it('of the recipient are no encoded text either', async () => {
    const { company, seed } = await setUp()
    const name = '=?utf-8?Q?=E2=80=AEgnp?='
    const person = await addPerson(service, company.workspace, 'member', name)
    await createComment(service, company.member, seed, { body: mention({ ...person, name: 'P' }) })
    await runAll()
    const parsed = await PostalMime.parse(mailsTo(person)[0]?.raw ?? '')
    expect(parsed.to).toEqual([{ name: '', address: person.email }])
  })

  it('of an agent that comments are with that of its person', async () => {
    const { company, seed, reader } = await setUp()
    const agent = await letAgentIn(service, company.workspace, company.member)
    const answer = await agent.call('add_comment', { seedId: seed.id, body: mention(reader) })
    expect(JSON.stringify(answer)).not.toContain('"isError":true')
    await runAll()
    expect(subjectsTo(reader).join()).toMatch(/^.+ for Mary Member mentioned you in Secret plan$/)
  })
})

describe('the link that turns mails off', () => {
  const pathIn = (raw: string) => /\/unsubscribe\/[\w-]+/.exec(raw)?.[0] ?? ''

  it('of one person is that of no other, and says of whom it is to nobody', async () => {
    const { company, seed, reader } = await setUp()
    const other = await addPerson(service, company.workspace, 'member', 'Otto Other')
    await createComment(service, company.member, seed, { body: `${mention(reader)} ${mention(other)}` })
    await runAll()
    const [mine, theirs] = [reader, other].map((person) =>
      pathIn(mailsTo(person)[0]?.header('list-unsubscribe') ?? ''),
    )
    expect(mine).not.toBe(theirs)
    // With the id of another person and the signature of one's own.
    const bytesOf = (path: string | undefined) =>
      Buffer.from(String(path).split('/').at(-1) ?? '', 'base64url')
    const forged = Buffer.concat([bytesOf(theirs).subarray(0, 16), bytesOf(mine).subarray(16)])
    const turnOff = (path: string) =>
      service.app.inject({
        method: 'POST',
        url: path,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: 'List-Unsubscribe=One-Click',
      })
    const activityOf = async ({ id }: TestPerson) =>
      (await selectRows(db, sql`select workspace_activity as "isOn" from users where id = ${id}`))[0]
    expect((await turnOff(`/unsubscribe/${forged.toString('base64url')}`)).statusCode).toBe(404)
    expect(await activityOf(other)).toEqual({ isOn: true })
    const page = await service.app.inject({ url: String(mine), headers: { accept: 'text/html' } })
    expect(page.body).not.toContain(reader.email)
    expect(page.body).not.toContain(reader.name)
    expect(await activityOf(reader)).toEqual({ isOn: true })
    await turnOff(String(mine))
    expect([await activityOf(reader), await activityOf(other)]).toEqual([{ isOn: false }, { isOn: true }])
    await services.accounts.delete(reader.id, { withWorkspaces: false })
    expect((await turnOff(String(mine))).statusCode).toBeLessThan(500)
  })
})
