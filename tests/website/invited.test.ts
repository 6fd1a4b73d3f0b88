import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createAuthenticator } from '../support/authenticator.ts'
import { createCompany, randomEmail, type TestCompany } from '../support/company.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows } from '../support/test-app.ts'
import { createVisitor, noticeOn, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { as, db } = website
const day = 24 * 60 * 60 * 1000

const pathOf = (url: string) => new URL(url).pathname

/** Invites somebody by the API. Returns the link of its answer, and that of the mail. */
async function invite({ company, email = randomEmail(), role = 'member' }: Invitation) {
  const payload = { email, role }
  const answer = await as(company.owner, { method: 'POST', url: `${company.url}/invites`, payload })
  const { inviteUrl, invite: created } = answer.json<{ inviteUrl: string; invite: { id: string } }>()
  const { path: mailed } = await website.waitForMail(email, /invited you/)
  return { id: created.id, email, mailed, answered: pathOf(inviteUrl) }
}

interface Invitation {
  company: TestCompany
  email?: string
  role?: string
}

const findUser = async (email: string) => {
  const [user] = await selectRows<{ name: string; is_verified: boolean; role: string | null }>(
    db,
    sql`select u.name, u.email_verified_at is not null as is_verified, m.role
      from users u left join memberships m on m.user_id = u.id where u.email = ${email}`,
  )
  return user
}

async function open(path: string): Promise<Visitor> {
  const visitor = createVisitor(website)
  await visitor.get(path)
  return visitor
}

/** Sends the form of the page of an invite, also if the page has none. */
async function join(visitor: Visitor, path: string, fields: Record<string, string> = {}) {
  await visitor.get('/sign-up')
  return visitor.submit(`${path}/sign-up`, { name: 'Ida Invited', password, ...fields })
}

async function signIn(email: string, chosen: string) {
  const visitor = await open('/sign-in')
  return (await visitor.submit('/sign-in', { email, password: chosen })).statusCode
}

const company = await createCompany(website)
const base = `/w/${company.workspace.slug}`

describe('the link in an invite email', () => {
  it('shows the sender and the workspace, and creates an account that joins, without another email', async () => {
    const { email, mailed } = await invite({ company })
    const visitor = await open(mailed)
    expect(visitor.page()).toContain('Olga Owner')
    expect(visitor.page()).toContain(`<bdi>${company.workspace.name}</bdi>`)
    expect(visitor.page()).toContain(email)
    // Scanners open links.
    expect(await findUser(email)).toBeUndefined()
    const joined = await join(visitor, mailed)
    expect(noticeOn(joined.body)).toBe(
      `You joined ${company.workspace.name} as a member. Olga Owner invited you.`,
    )
    expect((await visitor.get(base)).statusCode).toBe(200)
    expect(await findUser(email)).toEqual({ name: 'Ida Invited', is_verified: true, role: 'member' })
    expect(await signIn(email, password)).toBe(303)
    await website.db.execute(sql`select graphile_worker.add_job('enqueue_accepted_invites', '{}'::json)`)
    await website.waitForMail(company.owner.email, /Ida Invited joined/)
    const jobs = await selectRows(
      db,
      sql`select 1 from graphile_worker._private_jobs where payload::text like ${`%${email}%`}`,
    )
    expect(jobs).toEqual([])
  })

  it('keeps the typed name when the password is rejected', async () => {
    const { email, mailed } = await invite({ company })
    const visitor = await open(mailed)
    const refused = await join(visitor, mailed, { password: 'short' })
    expect(refused.statusCode).toBe(400)
    expect(/id="password-error"[^>]*>([^<]*)</.exec(refused.body)?.[1]).toContain('Use 10 to 200')
    expect(refused.body).toContain('value="Ida Invited"')
    expect(await findUser(email)).toBeUndefined()
    expect(noticeOn((await join(visitor, mailed)).body)).toContain('You joined')
  })

  it('takes over an unverified account of the same address, and deletes its password', async () => {
    const email = randomEmail()
    const stranger = await open('/sign-up')
    await stranger.submit('/sign-up', { name: 'Eve', email, password: 'a password of a stranger' })
    const { path: verify } = await website.waitForMail(email, /Verify/)
    const { mailed } = await invite({ company, email })
    expect(noticeOn((await join(await open(mailed), mailed)).body)).toContain('You joined')
    expect(await findUser(email)).toEqual({ name: 'Ida Invited', is_verified: true, role: 'member' })
    expect(await signIn(email, 'a password of a stranger')).toBe(400)
    expect(await signIn(email, password)).toBe(303)
    expect((await stranger.get(verify)).statusCode).toBe(404)
  })

  it('creates an account with a passkey instead of a password', async () => {
    const { email, mailed } = await invite({ company })
    const visitor = await open(mailed)
    const authenticator = createAuthenticator({ origin: website.config.webUrl })
    const options = (await visitor.post(`${mailed}/passkey/options`)).json<{ challenge: string }>()
    const credential = authenticator.create(options)
    const joined = await visitor.submit(`${mailed}/passkey`, { name: 'Ida', credential })
    expect(noticeOn(joined.body)).toContain('You joined')
    expect(await findUser(email)).toEqual({ name: 'Ida', is_verified: true, role: 'member' })

    const other = await open('/sign-in')
    const challenge = (await other.post('/sign-in/passkey/options')).json<{ challenge: string }>()
    const signedIn = await other.submit('/sign-in/passkey', { credential: authenticator.get(challenge) })
    expect(signedIn.statusCode).toBe(303)
  })

  it('rejects a passkey that was created for another invite', async () => {
    const [first, second] = [await invite({ company }), await invite({ company })]
    for (const { email } of [first, second]) {
      const stranger = await open('/sign-up')
      await stranger.submit('/sign-up', { name: 'Eve', email, password })
    }
    const visitor = await open(first.mailed)
    const options = (await visitor.post(`${first.mailed}/passkey/options`)).json<{ challenge: string }>()
    const credential = createAuthenticator({ origin: website.config.webUrl }).create(options)
    const refused = await visitor.submit(`${second.mailed}/passkey`, { name: 'Ida', credential })
    expect(refused.statusCode).toBe(400)
    for (const { email } of [first, second])
      expect(await findUser(email)).toMatchObject({ is_verified: false, role: null })
  })

  it('asks people who have an account to sign in, and returns 409 when they sign up', async () => {
    const email = randomEmail()
    await signUp(website, { email, name: 'Grace' })
    const { mailed } = await invite({ company, email })
    const visitor = await open(mailed)
    expect(visitor.page()).toContain(`href="/sign-in?next=${encodeURIComponent(mailed)}"`)
    expect(visitor.page()).not.toContain('name="password"')
    expect((await join(visitor, mailed, { password: 'another password' })).statusCode).toBe(409)
    expect(await signIn(email, 'another password')).toBe(400)
    await visitor.get(`/sign-in?next=${encodeURIComponent(mailed)}`)
    await visitor.submit('/sign-in', { email, password, next: mailed })
    await visitor.get(mailed)
    expect(noticeOn((await visitor.submit(mailed)).body)).toBe(
      `You joined ${company.workspace.name} as a member. Olga Owner invited you.`,
    )
    // The notice is shown once.
    expect(noticeOn((await visitor.get(base)).body)).toBeUndefined()
    expect(await findUser(email)).toEqual({ name: 'Grace', is_verified: true, role: 'member' })
  })

  it('creates one account and one membership when several forms are sent concurrently', async () => {
    const { email, mailed } = await invite({ company })
    const visitors = await Promise.all(Array.from({ length: 4 }, () => open(mailed)))
    const answers = await Promise.all(visitors.map((visitor) => join(visitor, mailed)))
    expect(answers.filter(({ body }) => noticeOn(body)?.startsWith('You joined'))).toHaveLength(1)
    expect(await selectRows(db, sql`select 1 from users where email = ${email}`)).toHaveLength(1)
    expect(await findUser(email)).toMatchObject({ role: 'member' })
  })

  it('gives the role of the invite rather than that of the allowed domain', async () => {
    const domain = `${crypto.randomUUID()}.example`
    const own = await createCompany(website, { domain })
    const { name, slug } = own.workspace
    const payload = { name, slug, allowedDomains: domain }
    await as(own.owner, { method: 'PATCH', url: own.url, payload })
    const email = `ida@${domain}`
    const { mailed } = await invite({ company: own, email, role: 'admin' })
    expect(noticeOn((await join(await open(mailed), mailed)).body)).toContain('as an admin')
    expect(await findUser(email)).toMatchObject({ role: 'admin' })
  })
})

describe('the invite link that the API returns', () => {
  it('shows the invite, but does not verify the email address', async () => {
    const created = await invite({ company })
    const url = `${company.url}/invites/${created.id}/resend`
    const resent = await as(company.owner, { method: 'POST', url })
    await website.waitForMail(created.email, /invited you/)
    const other = await invite({ company })
    const links = [
      { email: created.email, link: pathOf(resent.json<{ inviteUrl: string }>().inviteUrl) },
      { email: other.email, link: other.answered },
    ]
    for (const { email, link } of links) {
      const visitor = await open(link)
      expect(visitor.page()).toContain('Olga Owner')
      expect(visitor.page()).not.toContain('name="password"')
      expect((await join(visitor, link)).statusCode).toBe(404)
      await visitor.get('/sign-up')
      expect((await visitor.post(`${link}/passkey/options`)).statusCode).toBe(404)
      expect(await findUser(email)).toBeUndefined()

      await visitor.get(`/sign-up?next=${encodeURIComponent(link)}`)
      await visitor.submit('/sign-up', { name: 'Eve', email, password, next: link })
      expect(await findUser(email)).toEqual({ name: 'Eve', is_verified: false, role: null })
      const { path } = await website.waitForMail(email, /Verify/)
      await visitor.get(path)
      expect((await visitor.submit(path, { password })).headers.location).toBe(link)
    }
  })
})

describe('an invite link that is no longer valid', () => {
  it('says whether the invite was revoked, accepted or has expired, without a sign-in', async () => {
    const unknown = await open('/invites/a-token')
    expect(unknown.page()).toContain('This invite is not valid')

    const resent = await invite({ company })
    await as(company.owner, { method: 'POST', url: `${company.url}/invites/${resent.id}/resend` })
    expect((await open(resent.mailed)).page()).toContain('This invite is not valid')

    const revoked = await invite({ company })
    await as(company.owner, { method: 'POST', url: `${company.url}/invites/${revoked.id}/revoke` })
    const accepted = await invite({ company })
    await join(await open(accepted.mailed), accepted.mailed)
    const expired = await invite({ company })
    clock.advance(7 * day)
    for (const [link, text] of [
      [revoked, 'This invite was revoked.'],
      [accepted, 'This invite was already accepted.'],
      [expired, 'This invite has expired.'],
    ] as const) {
      const visitor = await open(link.mailed)
      expect(visitor.page()).toContain(text)
      expect(visitor.page()).not.toContain('name="password"')
      expect((await join(visitor, link.mailed)).statusCode).toBeGreaterThanOrEqual(404)
    }
    expect(await findUser(expired.email)).toBeUndefined()
  })

  it('returns 409 and creates no account when the sender may no longer invite', async () => {
    const { email, mailed } = await invite({ company })
    const { owner, admin, workspace } = company
    await db.execute(sql`update memberships set role = 'owner' where user_id = ${admin.id}`)
    await db.execute(
      sql`update memberships set role = 'viewer' where user_id = ${owner.id} and workspace_id = ${workspace.id}`,
    )
    const refused = await join(await open(mailed), mailed)
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toContain('revoked')
    expect(await findUser(email)).toBeUndefined()
  })
})
