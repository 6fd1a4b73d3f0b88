import argon2 from 'argon2'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { insertAccountToken } from '../../src/accounts/sign-in/credentials.repository.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { createToken, hashSecret } from '../../src/kernel/tokens.ts'
import { createAuthenticator } from '../support/authenticator.ts'
import { createCompany, randomEmail } from '../support/company.ts'
import { createTestClock } from '../support/test-clock.ts'
import { clone, selectRows } from '../support/test-app.ts'
import { randomSlug } from '../support/workspaces.ts'
import { createVisitor, noticeOn, password, signInAs, startWebsite } from './visitor.ts'

type Website = Awaited<ReturnType<typeof startWebsite>>

const OIDC_PROVIDERS = JSON.stringify([
  { id: 'example', name: 'Example ID', issuer: 'http://localhost:9', clientId: 'w', clientSecret: 's' },
])
const clock = createTestClock()
const day = 24 * 60 * 60 * 1000
const browser = { userAgent: '', sessionToken: undefined, browserToken: 'a browser', requestId: 'a request' }

// Each with a database and a folder of mail of its own, since all run jobs.
const start = async (environment: Record<string, string>) =>
  startWebsite({ clock, environment: { ...environment, DATABASE_URL: await clone() } })
const invitedOnly = await start({ SIGN_UP: 'invited' })
const closed = await start({ SIGN_UP: 'off', OIDC_PROVIDERS })
const withoutPasswords = await start({ PASSWORDS: 'off', OIDC_PROVIDERS })
const withoutCreation = await start({ WORKSPACE_CREATION: 'nobody' })

const findUser = async ({ db }: Website, email: string) => {
  const [user] = await selectRows<{ name: string }>(db, sql`select name from users where email = ${email}`)
  return user
}

async function signUp(website: Website, email: string) {
  const visitor = createVisitor(website)
  await visitor.get('/sign-in')
  return { visitor, answer: await visitor.submit('/sign-up', { name: 'Nora New', email, password }) }
}

/** Inserts what the sign-up form leaves while everybody may sign up: an account, and a password chosen in the browser. */
async function insertSignUp({ db, services }: Website, email: string): Promise<string> {
  const { id } = await services.accounts.create({ email, name: 'Nora New', isVerified: false })
  await db.execute(sql`
    insert into passwords (user_id, hash, changed_at, browser_hash)
    values (${id}, ${await argon2.hash(password)}, now(), ${hashSecret(browser.browserToken)})`)
  return id
}

/** A way in which an address is verified for the first time. */
type Verification = [name: string, verify: (website: Website, email: string, id: string) => Promise<unknown>]

const byLinks = (['verify_email', 'sign_in', 'reset_password'] as const).map((purpose): Verification => [
  `a link of ${purpose}`,
  async ({ db, services: { credentials } }, email, userId) => {
    const token = createToken()
    const expiresAt = new Date(clock.now().getTime() + 60_000)
    await insertAccountToken(db, { tokenHash: hashSecret(token), userId, email, purpose, expiresAt })
    if (purpose === 'verify_email') return credentials.verifyEmail(token, { password: '' }, browser)
    if (purpose === 'sign_in') return credentials.signInByLink(token, browser)
    return credentials.resetPassword(token, { password: 'another long password' }, browser)
  },
])
const byProvider: Verification = [
  'a provider',
  ({ services }, email) => services.credentials.signInByIdentity(identityOf(email), browser),
]
const isVerified = async ({ db }: Website, id: string) => {
  const [row] = await selectRows<{ isVerified: boolean }>(
    db,
    sql`select email_verified_at is not null as "isVerified" from users where id = ${id}`,
  )
  return row?.isVerified
}

/** Invites an address. Returns the path of the link in the mail. */
async function invite(website: Website, email: string): Promise<string> {
  const company = await createCompany(website)
  const payload = { email, role: 'member' }
  await website.as(company.owner, { method: 'POST', url: `${company.url}/invites`, payload })
  return (await website.waitForMail(email, /invited you/)).path
}

const identityOf = (email: string) => ({
  issuer: 'https://id.example',
  subject: email,
  email,
  emailFault: undefined,
  name: 'Nora New',
})

describe('with SIGN_UP=invited, the sign-up form', () => {
  it('answers every address alike, and says that an email was sent', async () => {
    const [known, invited, unknown] = [randomEmail(), randomEmail(), randomEmail()]
    await invitedOnly.services.accounts.create({ email: known, name: 'Kim', isVerified: true })
    await invite(invitedOnly, invited)
    const pages = await Promise.all(
      [known, invited, unknown].map(async (email) => {
        const { answer } = await signUp(invitedOnly, email)
        return { status: answer.statusCode, body: answer.body.replaceAll(email, 'ADDRESS') }
      }),
    )
    expect(pages[0]?.status).toBe(200)
    expect(pages[0]?.body).toContain('We sent an email to <strong>ADDRESS</strong>')
    for (const page of pages) expect(page).toEqual(pages[0])
  })

  it('creates an account for an invited address, whose mail verifies it', async () => {
    const email = randomEmail()
    await invite(invitedOnly, email)
    const { visitor } = await signUp(invitedOnly, email)
    const { path } = await invitedOnly.waitForMail(email, /Verify your email address/)
    await visitor.get(path)
    expect((await visitor.submit(path)).statusCode).toBe(303)
    expect(await findUser(invitedOnly, email)).toEqual({ name: 'Nora New' })
  })

  it('creates an account for an address at a domain that a workspace allows', async () => {
    const domain = `${crypto.randomUUID()}.example`
    const company = await createCompany(invitedOnly)
    await invitedOnly.db.execute(
      sql`update workspaces set allowed_domains = array[${domain}] where id = ${company.workspace.id}`,
    )
    const email = `nora@${domain}`
    await signUp(invitedOnly, email)
    await invitedOnly.waitForMail(email, /Verify your email address/)
    expect(await findUser(invitedOnly, email)).toEqual({ name: 'Nora New' })
  })

  it('creates no account for another address, and mails what is missing', async () => {
    const email = randomEmail()
    await signUp(invitedOnly, email)
    const { text } = await invitedOnly.waitForMail(email, /You need an invite/)
    expect(text).toMatch(/Only\s+people\s+who\s+are\s+invited/)
    expect(await findUser(invitedOnly, email)).toBeUndefined()
  })

  it('takes an expired or revoked invite for none', async () => {
    const [expired, revoked] = [randomEmail(), randomEmail()]
    await invite(invitedOnly, expired)
    clock.advance(31 * day)
    await invite(invitedOnly, revoked)
    await invitedOnly.db.execute(sql`update invites set state = 'revoked' where email = ${revoked}`)
    for (const email of [expired, revoked]) {
      await signUp(invitedOnly, email)
      await invitedOnly.waitForMail(email, /You need an invite/)
      expect(await findUser(invitedOnly, email)).toBeUndefined()
    }
  })

  it('is closed to the addresses and domains of a deleted workspace', async () => {
    const email = `nora@${crypto.randomUUID()}.example`
    await invite(invitedOnly, email)
    await invitedOnly.db.execute(sql`
      update workspaces set deleted_at = now(), allowed_domains = array[${email.split('@')[1]}]
      where id = (select workspace_id from invites where email = ${email})`)
    await signUp(invitedOnly, email)
    await invitedOnly.waitForMail(email, /You need an invite/)
    expect(await findUser(invitedOnly, email)).toBeUndefined()
  })

  it.each(byLinks)('asks again at the first verification, by %s', async (_name, verify) => {
    const [invited, revoked] = [randomEmail(), randomEmail()]
    for (const email of [invited, revoked]) await invite(invitedOnly, email)
    await invitedOnly.db.execute(sql`update invites set state = 'revoked' where email = ${revoked}`)
    const id = await insertSignUp(invitedOnly, revoked)
    await expect(verify(invitedOnly, revoked, id)).rejects.toMatchObject({ code: 'invite_required' })
    expect(await isVerified(invitedOnly, id)).toBe(false)
    const admitted = await insertSignUp(invitedOnly, invited)
    await verify(invitedOnly, invited, admitted)
    expect(await isVerified(invitedOnly, admitted)).toBe(true)
  })

  it('mails no link to an account whose invite was revoked, and says what is missing to whoever has its password', async () => {
    const email = randomEmail()
    const id = await insertSignUp(invitedOnly, email)
    await signUp(invitedOnly, email)
    await invitedOnly.waitForMail(email, /You need an invite/)
    const visitor = createVisitor(invitedOnly)
    await visitor.get('/sign-in')
    const page = await visitor.submit('/sign-in', { email, password })
    expect(page.statusCode).toBe(403)
    expect(page.body).toContain('Only people who are invited can sign up here')
    expect(await isVerified(invitedOnly, id)).toBe(false)
  })

  it('is not needed by people from an identity provider', async () => {
    const email = randomEmail()
    const result = await invitedOnly.services.credentials.signInByIdentity(identityOf(email), browser)
    expect(result).toHaveProperty('sessionToken')
    expect(await findUser(invitedOnly, email)).toEqual({ name: 'Nora New' })
  })
})

describe('with SIGN_UP=off', () => {
  it('no page offers to sign up, and the sign-up page says why', async () => {
    const visitor = createVisitor(closed)
    for (const path of ['/', '/sign-in']) expect((await visitor.get(path)).body).not.toContain('/sign-up')
    const page = await visitor.get('/sign-up')
    expect(page.statusCode).toBe(403)
    expect(page.body).toContain('You cannot sign up here')
  })

  it('refuses the form, without an account and without mail', async () => {
    const email = randomEmail()
    const { visitor } = await signUp(closed, email)
    expect((await visitor.open('/sign-up')).statusCode).toBe(403)
    expect(await findUser(closed, email)).toBeUndefined()
    const jobs = await selectRows(
      closed.db,
      sql`select 1 from graphile_worker._private_jobs where payload::text like ${`%${email}%`}`,
    )
    expect(jobs).toEqual([])
  })

  it('the link of an invite only offers to sign in, and its forms create no account', async () => {
    const email = randomEmail()
    const link = await invite(closed, email)
    const visitor = createVisitor(closed)
    const page = await visitor.get(link)
    expect(page.body).toContain('To accept, sign in with this email address.')
    expect(page.body).not.toMatch(/sign-up|\/passkey/)
    await visitor.get('/sign-in')
    await visitor.submit(`${link}/sign-up`, { name: 'Nora', password })
    expect((await visitor.post(`${link}/passkey/options`)).statusCode).toBe(403)
    expect(await findUser(closed, email)).toBeUndefined()
  })

  it('an identity provider signs in those who have an account, and nobody else', async () => {
    const [known, unknown] = [randomEmail(), randomEmail()]
    const { credentials, accounts } = closed.services
    await accounts.create({ email: known, name: 'Kim', isVerified: true })
    expect(await credentials.signInByIdentity(identityOf(known), browser)).toHaveProperty('sessionToken')
    await expect(credentials.signInByIdentity(identityOf(unknown), browser)).rejects.toMatchObject({
      code: 'sign_up_disabled',
    })
    expect(await findUser(closed, unknown)).toBeUndefined()
  })

  it.each([...byLinks, byProvider])(
    'an account that waits since before is not verified by %s',
    async (_name, verify) => {
      const email = randomEmail()
      const id = await insertSignUp(closed, email)
      await expect(verify(closed, email, id)).rejects.toMatchObject({ code: 'sign_up_disabled' })
      expect(await isVerified(closed, id)).toBe(false)
    },
  )

  it('an operator admits an account that waits since before, by handing over a link', async () => {
    const id = await insertSignUp(closed, randomEmail())
    const { credentials } = closed.services
    const { url } = await credentials.createLink('sign_in', id)
    expect(await credentials.signInByLink(String(url.split('/').at(-1)), browser)).toHaveProperty(
      'sessionToken',
    )
    expect(await isVerified(closed, id)).toBe(true)
  })

  it('whoever an operator has created signs in by a link', async () => {
    const email = randomEmail()
    await closed.services.accounts.create({ email, name: 'Kim', isVerified: false })
    const visitor = createVisitor(closed)
    await visitor.get('/sign-in/link')
    await visitor.submit('/sign-in/link', { email })
    const { path } = await closed.waitForMail(email, /sign-in link/)
    await visitor.get(path)
    expect((await visitor.submit(path)).statusCode).toBe(303)
  })
})

describe('with PASSWORDS=off', () => {
  it('the pages offer identity providers, passkeys and links, and no password', async () => {
    const visitor = createVisitor(withoutPasswords)
    for (const path of ['/', '/sign-in', '/sign-up']) {
      const { body } = await visitor.get(path)
      expect(body).toContain('Continue with Example ID')
      expect(body).not.toMatch(/type="password"|\/forgot/)
    }
    const person = await withoutPasswords.createPerson()
    const signedIn = await signInAs(withoutPasswords, person)
    expect((await signedIn.get('/settings/security')).body).not.toContain('/settings/security/password')
  })

  it('every page and form that is about a password is refused', async () => {
    const person = await withoutPasswords.createPerson()
    const paths = ['/verify-email/a-token', '/reset/a-token']
    const visitor = await signInAs(withoutPasswords, person)
    for (const path of ['/forgot', '/verify', '/settings/security/password', ...paths])
      expect((await visitor.get(path)).statusCode).toBe(403)
    await visitor.get('/settings/security')
    // Without a session: the sign-in page leads people who are signed in on.
    const forms: [path: string, fields: Record<string, string>][] = [
      ['/sign-in', { email: person.email, password }],
      ['/sign-up', { name: 'Nora', email: randomEmail(), password }],
      ['/forgot', { email: person.email }],
      ['/verify', { email: person.email }],
      ...paths.map((path): [string, Record<string, string>] => [path, { password }]),
      ['/settings/security/password', { currentPassword: password, password }],
      ['/settings/security/password-link', {}],
      ['/settings/security/confirm/password', { password }],
    ]
    for (const [path, fields] of forms) {
      const { statusCode, headers } = await visitor.post(path, fields)
      const last = statusCode === 303 ? await visitor.get(String(headers.location)) : { statusCode }
      expect(`${path}: ${last.statusCode}`).toBe(`${path}: 403`)
    }
    await expect(
      withoutPasswords.services.credentials.createLink('reset_password', person.id),
    ).rejects.toMatchObject({ code: 'passwords_disabled' })
  })

  it('a password from before does not sign in', async () => {
    const email = randomEmail()
    const { services } = withoutPasswords
    const { id } = await services.accounts.create({ email, name: 'Kim', isVerified: true })
    const hash = await argon2.hash(password)
    await withoutPasswords.db.execute(
      sql`insert into passwords (user_id, hash, changed_at) values (${id}, ${hash}, now())`,
    )
    await expect(services.credentials.signIn({ email, password }, browser)).rejects.toMatchObject({
      code: 'passwords_disabled',
    })
  })

  it('the link of an invite creates an account with a passkey, and not with a password', async () => {
    const email = randomEmail()
    const link = await invite(withoutPasswords, email)
    const visitor = createVisitor(withoutPasswords)
    const page = await visitor.get(link)
    expect(page.body).toContain('Continue with Example ID')
    expect(page.body).not.toContain('type="password"')
    const refused = await visitor.submit(`${link}/sign-up`, { name: 'Nora', password })
    expect(refused.body).toContain('Passwords are not used here')
    const authenticator = createAuthenticator({ origin: withoutPasswords.config.webUrl })
    await visitor.get(link)
    const options = (await visitor.post(`${link}/passkey/options`)).json<{ challenge: string }>()
    const credential = authenticator.create(options)
    const joined = await visitor.submit(`${link}/passkey`, { name: 'Nora', credential })
    expect(noticeOn(joined.body)).toContain('You joined')
    expect(await findUser(withoutPasswords, email)).toEqual({ name: 'Nora' })
  })

  it('a changed email address is taken back without a password', async () => {
    const person = await withoutPasswords.createPerson()
    const { emailChanges, sessions } = withoutPasswords.services
    const visitor = await signInAs(withoutPasswords, person)
    const session = await sessions.find(String(visitor.cookies.get('session')))
    if (!session) throw new Error('the person is not signed in')
    const { principal } = session
    const stolen = randomEmail()
    await emailChanges.request(principal, stolen)
    const { path } = await withoutPasswords.waitForMail(stolen, /email address/)
    await emailChanges.confirm(principal, String(path.split('/').at(-1)))
    const { text } = await withoutPasswords.waitForMail(person.email, /was changed/)
    const takeBack = /\/sign-in\/take-back\/\S+/.exec(text)?.[0] ?? ''
    const owner = createVisitor(withoutPasswords)
    expect((await owner.get(takeBack)).body).not.toContain('type="password"')
    const answer = await owner.post(takeBack)
    expect(answer.headers.location).toBe('/sign-in?done=address-taken-back')
    expect(await findUser(withoutPasswords, person.email)).toBeDefined()
    expect(await findUser(withoutPasswords, stolen)).toBeUndefined()
    // The session of whoever changed the address has ended.
    expect((await visitor.get('/settings/security')).statusCode).toBe(303)
  })
})

describe('with WORKSPACE_CREATION=nobody', () => {
  it('no page offers to create a workspace, and the form is refused', async () => {
    const person = await withoutCreation.createPerson()
    const visitor = await signInAs(withoutCreation, person)
    const { body } = await visitor.get('/onboarding')
    expect(body).toContain('You are not in a workspace yet')
    expect(body).not.toMatch(/Create|New workspace/)
    const refused = await visitor.submit('/onboarding', { name: 'Acme', slug: randomSlug() })
    expect(refused.statusCode).toBe(403)
    expect(refused.body).toContain('Only the people who run this service create workspaces')
  })

  it('the API refuses', async () => {
    const person = await withoutCreation.createPerson()
    const payload = { name: 'Acme', slug: randomSlug() }
    const answer = await withoutCreation.as(person, { method: 'POST', url: '/v1/workspaces', payload })
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ _tag: 'Forbidden', code: 'workspace_creation_disabled' })
    expect((await withoutCreation.as(person, { method: 'GET', url: '/v1/workspaces' })).json()).toEqual([])
  })

  it('operators create workspaces for people', async () => {
    const user = await withoutCreation.services.accounts.create({
      email: randomEmail(),
      name: 'Kim',
      isVerified: true,
    })
    const principal: Principal = { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
    const slug = randomSlug()
    await withoutCreation.services.workspaces.create(principal, { name: 'Acme', slug })
    const visitor = await signInAs(withoutCreation, user)
    expect((await visitor.get(`/w/${slug}`)).statusCode).toBe(200)
  })
})
