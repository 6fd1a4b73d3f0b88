import { sql } from 'drizzle-orm'
import { generateSync } from 'otplib'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { addPerson, createCompany, createInvite, findJobs, patch, randomEmail } from '../support/company.ts'
import { createComment } from '../support/comments.ts'
import { openEventStream } from '../support/event-stream-client.ts'
import { untilTrue } from '../support/eventually.ts'
import { startMailServer } from '../support/mail-server.ts'
import { runJobsNow } from '../support/run-jobs-now.ts'
import { createSeed } from '../support/seeds.ts'
import { clone, selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import {
  cookiesOf,
  createVisitor,
  password,
  signInAs,
  signUp,
  startWebsite,
  type Visitor,
} from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { accounts, credentials } = website.services
const { message } = errors.accountSuspended
const browser = {
  userAgent: 'A browser',
  sessionToken: undefined,
  browserToken: 'a browser',
  requestId: 'a request',
}

async function idOf(email: string): Promise<string> {
  const user = await accounts.findByEmail(email)
  if (!user) throw new Error('the person is not there')
  return user.id
}
const suspend = async (email: string) => accounts.suspend(await idOf(email), { isForced: true })
const unsuspend = async (email: string) => accounts.unsuspend(await idOf(email))

async function signUpNew() {
  const email = randomEmail()
  return { email, visitor: await signUp(website, { email }) }
}

const isSignedIn = async (visitor: Visitor) => (await visitor.get('/onboarding')).statusCode === 200

async function enterPassword(email: string, entered = password) {
  const visitor = createVisitor(website)
  await visitor.get('/sign-in')
  return { visitor, answer: await visitor.submit('/sign-in', { email, password: entered }) }
}

const sessionsOf = async (email: string) =>
  (
    await selectRows(
      website.db,
      sql`select from sessions join users on users.id = user_id where email = ${email}`,
    )
  ).length

describe('a session of a suspended person', () => {
  it('does not work, with its streams, until the end of the suspension', async () => {
    const { member, workspace } = await createCompany(website)
    const visitor = await signInAs(website, member)
    const stream = await openEventStream(website, `/w/${workspace.slug}/activity/changes`, {
      cookie: cookiesOf(visitor),
    })
    await suspend(member.email)
    await stream.ended
    const answer = await visitor.get('/onboarding')
    expect(answer.headers.location).toContain('/sign-in')
    await unsuspend(member.email)
    expect(await isSignedIn(visitor)).toBe(true)
  })
})

describe('signing in while suspended', () => {
  it('is refused with a sentence after the right password, and as for everybody after a wrong one', async () => {
    const { email } = await signUpNew()
    const before = await enterPassword(email, 'a wrong password')
    await suspend(email)
    const [right, wrong, unknown] = [
      await enterPassword(email),
      await enterPassword(email, 'a wrong password'),
      await enterPassword(randomEmail(), 'a wrong password'),
    ]
    expect(right.answer.body).toContain(message)
    expect(await isSignedIn(right.visitor)).toBe(false)
    for (const { answer } of [wrong, unknown]) {
      expect(answer.body).not.toContain(message)
      expect(answer.statusCode).toBe(before.answer.statusCode)
      expect(answer.body).toContain(errors.signInFailed.message)
    }
    expect(await sessionsOf(email)).toBe(1)
    await unsuspend(email)
    expect(await isSignedIn((await enterPassword(email)).visitor)).toBe(true)
  })

  it('is refused after the second step', async () => {
    const { email, visitor } = await signUpNew()
    const page = '/settings/security/two-step'
    await visitor.get(page)
    await visitor.submit(`${page}/begin`)
    await visitor.get(page)
    const secret = (/id="secret"[^>]*value="([A-Z2-7 ]+)"/.exec(visitor.page())?.[1] ?? '').replaceAll(
      ' ',
      '',
    )
    const code = () => generateSync({ secret, epoch: Math.floor(clock.now().getTime() / 1000) })
    await visitor.submit(`${page}/confirm`, { code: code() })
    clock.advance(60_000)
    await suspend(email)
    const other = await enterPassword(email)
    expect(other.answer.headers.location).toBe('/sign-in/second-step')
    await other.visitor.get('/sign-in/second-step')
    expect((await other.visitor.submit('/sign-in/second-step', { code: code() })).body).toContain(message)
    expect(await isSignedIn(other.visitor)).toBe(false)
  })

  it('is refused by a link that signs in, or to a new password, which stays usable', async () => {
    const { email } = await signUpNew()
    const id = await idOf(email)
    const [signIn, reset] = [
      await credentials.createLink('sign_in', id),
      await credentials.createLink('reset_password', id),
    ].map(({ url }) => new URL(url).pathname) as [string, string]
    await suspend(email)
    const visitor = createVisitor(website)
    await visitor.get(signIn)
    expect((await visitor.submit(signIn)).body).toContain(message)
    expect((await visitor.get(reset)).body).toContain(message)
    await expect(
      credentials.resetPassword(
        reset.split('/').at(-1) ?? '',
        { password: 'another long password' },
        browser,
      ),
    ).rejects.toMatchObject({ code: 'account_suspended' })
    expect(await isSignedIn(visitor)).toBe(false)
    await unsuspend(email)
    await visitor.get(signIn)
    await visitor.submit(signIn)
    expect(await isSignedIn(visitor)).toBe(true)
  })

  it('is refused by a passkey', async () => {
    const { email, visitor } = await signUpNew()
    const page = '/settings/security/passkeys'
    await visitor.get(page)
    const authenticator = createAuthenticator({ origin: website.config.webUrl })
    const creation = (await visitor.post(`${page}/options`)).json<{ challenge: string }>()
    await visitor.submit(page, { name: 'Phone', credential: authenticator.create(creation) })
    await suspend(email)
    const other = createVisitor(website)
    await other.get('/sign-in')
    const use = (await other.post('/sign-in/passkey/options')).json<{ challenge: string }>()
    const answer = await other.submit('/sign-in/passkey', { credential: authenticator.get(use), next: '' })
    expect(answer.body).toContain(message)
    expect(await isSignedIn(other)).toBe(false)
  })

  it('is refused by an identity provider, linked or not, which links nothing', async () => {
    const { email } = await signUpNew()
    const [linked, fresh] = ['linked', 'fresh'].map((subject) => ({
      ...{ issuer: 'https://id.example.com', subject: `${subject} ${email}` },
      ...{ email, emailFault: undefined, name: 'Grace' },
    })) as [
      Parameters<typeof credentials.signInByIdentity>[0],
      Parameters<typeof credentials.signInByIdentity>[0],
    ]
    await credentials.signInByIdentity(linked, browser)
    await suspend(email)
    for (const identity of [linked, fresh])
      await expect(credentials.signInByIdentity(identity, browser)).rejects.toMatchObject({
        code: 'account_suspended',
      })
    const identities = await selectRows(
      website.db,
      sql`select from identities join users on users.id = user_id where email = ${email}`,
    )
    expect(identities).toHaveLength(1)
  })

  it('is refused with the mailed link of an invite, which takes over an account that nobody has verified', async () => {
    const company = await createCompany(website)
    const { email } = await website.createPerson({ isVerified: false })
    await suspend(email)
    const invite = await createInvite(website, company.owner, company, { email })
    await website.db.execute(sql`update invite_tokens set is_mailed = true where invite_id = ${invite.id}`)
    await expect(
      website.services.invitedSignUp.signUp(
        invite.token,
        { name: 'Grace', password: 'correct horse battery' },
        browser,
      ),
    ).rejects.toMatchObject({ code: 'account_suspended' })
    expect(await accounts.findByEmail(email)).toMatchObject({ emailVerifiedAt: null })
  })

  it('is refused by the link that takes an address back', async () => {
    const { email, visitor } = await signUpNew()
    const fresh = randomEmail()
    const page = '/settings/security/email'
    await visitor.get(page)
    await visitor.submit(page, { email: fresh })
    const { path } = await website.waitForMail(fresh, /Confirm your new email address/)
    await visitor.get('/settings/security')
    await visitor.submit(path)
    const { text } = await website.waitForMail(email, /was changed/)
    const link = String(/\/sign-in\/take-back\/[\w-]+/.exec(text)?.[0])
    await suspend(fresh)
    expect((await visitor.get(link)).body).toContain(message)
    await unsuspend(fresh)
    expect((await visitor.get(link)).statusCode).toBe(200)
  })
})

describe('the page of people', () => {
  it('shows every member who is suspended', async () => {
    const { member, viewer, workspace } = await createCompany(website)
    const visitor = await signInAs(website, viewer)
    const shown = async () =>
      [`/w/${workspace.slug}/people`, `/w/${workspace.slug}/people/${member.id}`].map(async (path) =>
        (await visitor.get(path)).body.includes('>Suspended<'),
      )
    expect(await Promise.all(await shown())).toEqual([false, false])
    await suspend(member.email)
    expect(await Promise.all(await shown())).toEqual([true, true])
  })
})

describe('mails to a suspended person', () => {
  it('are not sent: digests, mentions, links, security, invites to and from them, of which others are', async () => {
    const server = await startMailServer()
    const service = await startTestApp({
      clock,
      environment: { SMTP_URL: server.url, DATABASE_URL: await clone() },
    })
    await service.services.startJobs()
    const untilIdle = () => untilTrue(async () => (await findJobs(service, '')).length === 0)
    const mailsTo = ({ email }: Pick<TestPerson, 'email'>) =>
      server.received.filter(({ recipients }) => recipients.includes(email)).length
    const company = await createCompany(service)
    const { owner, admin, workspace } = company
    const [suspended, other] = [
      await addPerson(service, workspace, 'member', 'Susi'),
      await addPerson(service, workspace, 'member', 'Otto'),
    ]
    const seed = await createSeed(service, owner, company)
    // Before: what waits for its mail.
    const body = [suspended, other].map(({ id }) => `[@X](user:${id})`).join(' ')
    await createComment(service, owner, seed, { body })
    await service.services.accounts.suspend(suspended.id, { isForced: false })
    await service.services.accounts.suspend(admin.id, { isForced: false })
    for (const person of [suspended, other]) {
      await service.services.credentials.requestLink('sign_in', person.email, browser)
      await service.as(owner, patch(`${company.url}/members/${person.id}`, { role: 'viewer' }))
    }
    clock.advance(5 * 60 * 1000)
    await runJobsNow(service)
    await untilIdle()
    const elsewhere = await createCompany(service)
    for (const { email } of [suspended, other])
      await createInvite(service, elsewhere.owner, elsewhere, { email })
    clock.advance(2 * 60 * 60 * 1000)
    await service.db.execute(sql`select graphile_worker.add_job('enqueue_digests', '{}'::json)`)
    await runJobsNow(service)
    await untilIdle()
    expect(mailsTo(suspended)).toBe(0)
    // A link, the mention, the new role, and the invite.
    expect(mailsTo(other)).toBe(4)
    // An invite that a suspended person sent is not mailed.
    await service.services.accounts.unsuspend(admin.id)
    const invite = await createInvite(service, admin, company)
    const sendAgain = async () => {
      const payload = JSON.stringify({ inviteId: invite.id })
      await service.db.execute(sql`select graphile_worker.add_job('send_invite', ${payload}::json)`)
      await untilIdle()
    }
    await untilIdle()
    await service.services.accounts.suspend(admin.id, { isForced: false })
    await sendAgain()
    expect(mailsTo(invite)).toBe(1)
    await service.services.accounts.unsuspend(admin.id)
    await sendAgain()
    expect(mailsTo(invite)).toBe(2)
  })
})
