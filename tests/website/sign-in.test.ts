import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { sessionsMax } from '../../src/domain/accounts.ts'
import { createArgon2Passwords } from '../../src/platform/passwords/argon2-passwords.ts'
import { findJobs, randomEmail } from '../support/company.ts'
import { createTestClock } from '../support/test-clock.ts'
import { clone, selectRows } from '../support/test-app.ts'
import { createVisitor, password, signInAs, signUp, startWebsite } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { db, services } = website

const hours = 60 * 60 * 1000
const sessionOf = (visitor: { cookies: Map<string, string> }) => visitor.cookies.get('session')

/** A visitor on a page. */
async function visit(path: string) {
  const visitor = createVisitor(website)
  await visitor.get(path)
  return visitor
}

async function signIn(email: string, chosen = password) {
  const visitor = await visit('/sign-in')
  const answer = await visitor.submit('/sign-in', { email, password: chosen })
  return { visitor, answer }
}

describe('signing up', () => {
  it('signs the person in after the address is verified with the password', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    expect((await visitor.get('/')).headers.location).toBe('/onboarding')
    await visitor.get('/onboarding')
    expect((await visitor.submit('/sign-out')).headers.location).toBe('/sign-in?done=signed-out')
    expect((await visitor.get('/')).body).toContain('<h1>Sign in</h1>')
    const again = await signIn(email)
    expect(again.answer.headers.location).toBe('/')
    expect(sessionOf(again.visitor)).toMatch(/^[\w-]{43}$/)
  })

  it('stores neither the password nor the session cookie in plain text', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const [row] = await selectRows<{ hash: string; token_hash: Buffer }>(
      db,
      sql`select hash, token_hash from users join passwords on passwords.user_id = users.id
        join sessions on sessions.user_id = users.id where email = ${email}`,
    )
    expect(row?.hash).toMatch(/^\$argon2id\$/)
    expect(row?.token_hash.toString('base64url')).not.toBe(sessionOf(visitor))
    expect(website.log.join('')).not.toContain(password)
    expect(website.log.join('')).not.toContain(sessionOf(visitor))
  })

  it('gives the same response for an address that has an account, and notifies its owner', async () => {
    const email = randomEmail()
    await signUp(website, { email, name: 'Ada' })
    const answers = []
    for (const address of [email, randomEmail()]) {
      const visitor = await visit('/sign-up')
      const answer = await visitor.submit('/sign-up', {
        name: 'Eve',
        email: address,
        password: 'another password',
      })
      answers.push(`${answer.statusCode} ${answer.body.replaceAll(address, 'ADDRESS')}`)
    }
    expect(answers[0]).toBe(answers[1])
    const { text } = await website.waitForMail(email, /already/)
    expect(text).toContain('Hello Ada')
    expect((await signIn(email, 'another password')).answer.statusCode).toBe(400)
    expect((await signIn(email)).answer.statusCode).toBe(303)
  })

  it.each([
    ['name', { name: ' ' }, 'The name must not be blank'],
    ['email', { email: 'nobody' }, 'This is not a valid email address.'],
    ['password', { password: 'short' }, 'Use 10 to 200 characters'],
    ['password', { password: 'aaaaaaaaaaaaaaaa' }, 'Use 10 to 200 characters'],
    ['password', { password: 'Password123!' }, 'too common'],
  ])(
    'returns 400 with an error at the field %s, and keeps the typed values',
    async (field, fault, message) => {
      const visitor = await visit('/sign-up')
      const answer = await visitor.submit('/sign-up', {
        name: 'Grace <b>',
        email: randomEmail(),
        password,
        ...fault,
      })
      expect(answer.statusCode).toBe(400)
      const note = new RegExp(`<p class="error" id="${field}-error"[^>]*>([^<]*)<`).exec(answer.body)?.[1]
      expect(note).toContain(message)
      if (field !== 'name') expect(answer.body).toContain('value="Grace &lt;b&gt;"')
      expect(answer.body).not.toContain(password)
    },
  )
})

describe('verifying the email address', () => {
  it('requires the password in another browser, and works once, even if the link was opened before', async () => {
    const email = randomEmail()
    const there = await visit('/sign-up')
    await there.submit('/sign-up', { name: 'Grace', email, password })
    const { path } = await website.waitForMail(email, /Verify/)
    const visitor = createVisitor(website)
    for (let i = 0; i < 3; i++) expect((await visitor.get(path)).statusCode).toBe(200)
    for (const tried of [{ password: 'not the password' }, {}]) {
      const wrong = await visitor.submit(path, tried)
      expect(wrong.statusCode).toBe(400)
      expect(wrong.body).toContain('This password is incorrect.')
    }
    expect(sessionOf(visitor)).toBeUndefined()
    expect((await visitor.submit(path, { password })).statusCode).toBe(303)

    const other = await visit('/sign-in')
    expect((await other.submit(path, { password })).statusCode).toBe(404)
    expect((await other.get(path)).statusCode).toBe(404)
    await there.get('/sign-in')
    expect((await there.submit(path)).statusCode).toBe(404)
  })

  it('does not require the password in the browser that signed up, but a click', async () => {
    const email = randomEmail()
    const visitor = await visit('/sign-up')
    await visitor.submit('/sign-up', { name: 'Grace', email, password })
    const { path } = await website.waitForMail(email, /Verify/)
    await visitor.get(path)
    expect(visitor.page()).not.toContain('name="password"')
    expect(sessionOf(visitor)).toBeUndefined()
    expect((await visitor.submit(path)).statusCode).toBe(303)
    expect((await visitor.get('/onboarding')).statusCode).toBe(200)
  })

  it('requires the password that a stranger set first, even in the owner’s browser', async () => {
    const email = randomEmail()
    const stranger = await visit('/sign-up')
    await stranger.submit('/sign-up', { name: 'Eve', email, password: 'a password of a stranger' })
    await website.waitForMail(email, /Verify/)
    const owner = await visit('/sign-up')
    await owner.submit('/sign-up', { name: 'Grace', email, password })
    const { path } = await website.waitForMail(email, /Verify/)
    await owner.get(path)
    expect(owner.page()).toContain('name="password"')
    expect((await owner.submit(path)).statusCode).toBe(400)
    expect((await owner.submit(path, { password })).statusCode).toBe(400)
    expect(sessionOf(owner)).toBeUndefined()
  })

  it('is required to sign in; an attempt before it sends a new link', async () => {
    const email = randomEmail()
    const visitor = await visit('/sign-up')
    await visitor.submit('/sign-up', { name: 'Grace', email, password })
    await website.waitForMail(email, /Verify/)
    const { visitor: early, answer } = await signIn(email)
    expect(answer.body).toContain('Verify your email address before you sign in.')
    expect(sessionOf(early)).toBeUndefined()
    await website.waitForMail(email, /Verify/)
  })

  it('joins the workspace that allows the email domain', async () => {
    const domain = `${crypto.randomUUID()}.example`
    const owner = await website.createPerson({ email: `olga@${domain}` })
    const slug = `acme-${domain.slice(0, 8)}`
    const principal = {
      user: { ...owner, emailVerifiedAt: new Date(), imageKey: null },
      source: 'system' as const,
      apiKeyId: null,
      sessionId: null,
      grantId: null,
    }
    await services.workspaces.create(principal, { name: 'Acme', slug })
    await services.workspaces.update(principal, slug, { name: 'Acme', slug, allowedDomains: domain })
    const visitor = await signUp(website, { email: `grace@${domain}` })
    expect((await visitor.get('/')).headers.location).toBe(`/w/${slug}`)
  })
})

describe('an email to an unverified address', () => {
  it('does not contain a name that a stranger has typed', async () => {
    const email = randomEmail()
    const visitor = await visit('/sign-up')
    await visitor.submit('/sign-up', { name: 'Claim Your Prize', email, password })
    const mails = [await website.waitForMail(email, /Verify/)]
    for (const [path, subject] of [
      ['/verify', /Verify/],
      ['/forgot', /new password/],
      ['/sign-in/link', /sign-in link/],
    ] as const) {
      await visitor.get(path)
      await visitor.submit(path, { email })
      mails.push(await website.waitForMail(email, subject))
    }
    const other = await signUp(website, { email: randomEmail(), name: 'Claim Your Prize' })
    const stranger = randomEmail()
    for (const address of [stranger, email]) {
      await other.get('/settings/security/email')
      await other.submit('/settings/security/email', { email: address })
    }
    mails.push(await website.waitForMail(stranger, /Confirm/))
    mails.push(await website.waitForMail(email, /already have an account/))
    for (const { subject, text, recipientName } of mails)
      expect(`${subject} ${text} ${recipientName}`, subject).not.toContain('Prize')
  })
})

describe('an email address in another spelling', () => {
  const findAddress = async (canonical: string) =>
    (
      await selectRows<{ email: string; is_verified: boolean }>(
        db,
        sql`select email, email_verified_at is not null as is_verified from users where canonical_email = ${canonical}`,
      )
    )[0]

  it.each([
    ['viktor', 'vi\u212ator', 'example.com', 'example.com'],
    ['viktor', 'viktor', 'mail.example', 'ma\u0130l.example'],
    ['viktor', '\uff56iktor', 'mail.example', 'mail.example'],
  ])('returns 400 with look-alike characters: %s for %s at %s', async (name, fake, domain, fakeDomain) => {
    const tag = crypto.randomUUID()
    const visitor = await visit('/sign-up')
    const other = `${fake}-${tag}@${fakeDomain}`
    const refused = await visitor.submit('/sign-up', { name: 'Eve', email: other, password })
    expect(refused.statusCode).toBe(400)
    const link = await visit('/sign-in/link')
    expect((await link.submit('/sign-in/link', { email: other })).statusCode).toBe(400)
    const email = `${name}-${tag}@${domain}`
    await signUp(website, { email })
    expect(await findAddress(email)).toEqual({ email, is_verified: true })
  })

  it('is the same account; emails go to the requested spelling until the address is verified', async () => {
    const email = `viktor-${crypto.randomUUID()}@example.com`
    const other = email.replace('viktor', 'VIKTOR')
    const stranger = await visit('/sign-up')
    await stranger.submit('/sign-up', { name: 'Eve', email: other, password: 'a password of a stranger' })
    await website.waitForMail(other, /Verify/)

    const owner = await visit('/sign-up')
    await owner.submit('/sign-up', { name: 'Viktor', email, password })
    await website.waitForMail(email, /Verify/)
    await owner.get('/forgot')
    await owner.submit('/forgot', { email })
    const { path } = await website.waitForMail(email, /new password/)
    expect((await owner.get(path)).body).toContain(email)
    await owner.submit(path, { password })
    expect(await findAddress(email)).toEqual({ email, is_verified: true })

    // From now on mail goes to the verified spelling.
    for (const typed of [other, email.toUpperCase()]) {
      await owner.get('/sign-in/link')
      await owner.submit('/sign-in/link', { email: typed })
      await website.waitForMail(email, /sign-in link/)
    }
    await owner.get('/sign-up')
    await owner.submit('/sign-up', { name: 'Eve', email: other, password: 'a password of a stranger' })
    await website.waitForMail(email, /already have an account/)
    expect((await signIn(other)).answer.statusCode).toBe(303)
    expect(await findAddress(email)).toEqual({ email, is_verified: true })
  })

  it('gets the verification link when it is used to sign in before the address is verified', async () => {
    const email = `grace-${crypto.randomUUID()}@example.com`
    const other = email.replace('grace', 'Grace')
    const visitor = await visit('/sign-up')
    await visitor.submit('/sign-up', { name: 'Grace', email: other, password })
    await website.waitForMail(other, /Verify/)
    await signIn(` ${email}`)
    const { path } = await website.waitForMail(email, /Verify/)
    await visitor.get(path)
    expect((await visitor.submit(path, { password })).statusCode).toBe(303)
    expect(await findAddress(email)).toEqual({ email, is_verified: true })
  })
})

describe('the sign-in page', () => {
  it.each(['/', '/sign-in'])('explains the product at %s, and has no link to itself', async (path) => {
    const { body } = await createVisitor(website).get(path)
    expect(body).toContain('where teams and their agents collect early ideas')
    expect(body).not.toContain('href="/sign-in"')
    expect((await createVisitor(website).get('/sign-up')).body).toContain('href="/sign-in"')
  })
})

describe('signing in', () => {
  it('gives the same response for an unknown address and a wrong password', async () => {
    const email = randomEmail()
    await signUp(website, { email })
    const wrong = await signIn(email, 'not the password')
    const unknown = await signIn(randomEmail(), 'not the password')
    const blank = (body: string) => body.replace(/value="[^"]*"/g, '')
    expect(wrong.answer.statusCode).toBe(400)
    expect(unknown.answer.statusCode).toBe(400)
    expect(blank(unknown.answer.body)).toBe(blank(wrong.answer.body))
  })

  it('ends the least recently used session when a person has too many', async () => {
    const person = await website.createPerson()
    await website.db.execute(sql`
      insert into sessions (id, user_id, token_hash, user_agent, created_at, last_used_at, expires_at)
      select gen_random_uuid(), ${person.id}, sha256(n::text::bytea), n::text, now(), now() - n * interval '1 hour',
        now() + interval '1 day'
      from generate_series(1, ${sessionsMax}) as n`)
    await signInAs(website, person)
    const left = await selectRows<{ agent: string }>(
      website.db,
      sql`select user_agent as agent from sessions where user_id = ${person.id} order by last_used_at`,
    )
    expect(left).toHaveLength(sessionsMax)
    expect(left[0]?.agent).toBe(String(sessionsMax - 1))
  })

  it('starts a new session, and ends the previous one of the browser', async () => {
    const email = randomEmail()
    const attacker = await signUp(website, { email: randomEmail() })
    await signUp(website, { email })
    const planted = String(sessionOf(attacker))
    await attacker.get('/onboarding')
    const victim = createVisitor(website)
    victim.cookies.set('session', planted)
    await victim.get('/onboarding')
    expect((await victim.submit('/sign-in', { email, password })).statusCode).toBe(303)
    expect(sessionOf(victim)).not.toBe(planted)
    expect((await attacker.get('/onboarding')).headers.location).toBe('/sign-in?next=%2Fonboarding')

    const unknown = createVisitor(website)
    unknown.cookies.set('session', 'A'.repeat(43))
    await unknown.get('/sign-in')
    await unknown.submit('/sign-in', { email, password })
    expect(sessionOf(unknown)).not.toBe('A'.repeat(43))
  })

  it('sets an HttpOnly and SameSite=Lax cookie that lasts 30 days', async () => {
    const email = randomEmail()
    await signUp(website, { email })
    const { answer } = await signIn(email)
    const cookie = answer.cookies.find(({ name }) => name === 'session')
    expect(cookie).toMatchObject({ path: '/', httpOnly: true, sameSite: 'Lax', maxAge: 30 * 24 * 60 * 60 })
    expect(cookie).not.toHaveProperty('domain')
  })

  it.each([
    ['/onboarding?x=1', '/onboarding?x=1'],
    ['https://evil.example/', '/'],
    ['//evil.example/', '/'],
    ['/\\evil.example/', '/'],
    ['/\t/evil.example/', '/'],
    ['\\\\evil.example', '/'],
    ['/%09/evil.example', '/%09/evil.example'],
    ['/./\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['onboarding', '/'],
  ])('redirects according to the parameter next: %j leads to %j', async (next, expected) => {
    const email = randomEmail()
    await signUp(website, { email })
    const visitor = await visit(`/sign-in?next=${encodeURIComponent(next)}`)
    const answer = await visitor.submit('/sign-in', { email, password, next })
    expect(answer.headers.location).toBe(expected)
    const signedIn = await visitor.get(`/sign-in?next=${encodeURIComponent(next)}`)
    expect(signedIn.headers.location).toBe(expected)
  })

  it('lasts 30 days after the last use, which is stored once an hour', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const lastUse = async () => {
      const [row] = await selectRows(
        db,
        sql`select last_used_at::text as at from sessions join users on users.id = user_id where email = ${email}`,
      )
      return row?.at
    }
    const before = await lastUse()
    clock.advance(hours / 2)
    await visitor.get('/onboarding')
    expect(await lastUse()).toBe(before)
    clock.advance(hours)
    expect((await visitor.get('/onboarding')).cookies.map(({ name }) => name)).toContain('session')
    expect(await lastUse()).not.toBe(before)
    clock.advance(29 * 24 * hours)
    expect((await visitor.get('/onboarding')).statusCode).toBe(200)
    clock.advance(30 * 24 * hours + 1)
    expect((await visitor.get('/onboarding')).statusCode).toBe(303)
  })
})

describe('a forgotten password', () => {
  it('is replaced once by an emailed link, which ends all sessions', async () => {
    const email = randomEmail()
    const before = await signUp(website, { email })
    const visitor = await visit('/forgot')
    await visitor.submit('/forgot', { email })
    const { path } = await website.waitForMail(email, /new password/)
    expect(JSON.stringify(await findJobs(website, email))).not.toContain(path.split('/').at(-1))
    await visitor.get(path)
    const short = await visitor.submit(path, { password: 'short' })
    expect(short.statusCode).toBe(400)
    const set = await visitor.submit(path, { password: 'a new long password' })
    expect(set.headers.location).toBe('/sign-in?done=password-set')
    expect((await before.get('/onboarding')).statusCode).toBe(303)
    expect((await signIn(email)).answer.statusCode).toBe(400)
    expect((await signIn(email, 'a new long password')).answer.statusCode).toBe(303)
    await visitor.get('/sign-in')
    expect((await visitor.submit(path, { password: 'yet another password' })).statusCode).toBe(404)
    await website.waitForMail(email, /was changed/)
  })

  it('is replaced once by concurrent requests with the same link; the others get 404', async () => {
    const email = randomEmail()
    await signUp(website, { email })
    const visitor = await visit('/forgot')
    await visitor.submit('/forgot', { email })
    const { path } = await website.waitForMail(email, /new password/)
    await visitor.get(path)
    const answers = await Promise.all(
      [1, 2, 3].map((i) => visitor.submit(path, { password: `a new long password ${i}` })),
    )
    expect(answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b)).toEqual([303, 404, 404])
  })

  it('returns 404 for a link that is one hour old', async () => {
    const email = randomEmail()
    await signUp(website, { email })
    const visitor = await visit('/forgot')
    await visitor.submit('/forgot', { email })
    const { path } = await website.waitForMail(email, /new password/)
    await visitor.get(path)
    clock.advance(hours)
    expect((await visitor.submit(path, { password: 'a new long password' })).statusCode).toBe(404)
    expect((await visitor.get(path)).body).toContain('This link has expired')
  })

  it.each(['/forgot', '/verify', '/sign-in/link'])(
    'the form %s gives the same response for every address',
    async (path) => {
      const email = randomEmail()
      await signUp(website, { email })
      const answers = []
      for (const address of [email, randomEmail()]) {
        const visitor = await visit(path)
        const answer = await visitor.submit(path, { email: address })
        answers.push(`${answer.statusCode} ${answer.body.replaceAll(address, 'ADDRESS')}`)
      }
      expect(answers[0]).toBe(answers[1])
      const visitor = await visit(path)
      expect((await visitor.submit(path, { email: 'nobody' })).statusCode).toBe(400)
    },
  )
})

describe('a sign-in link', () => {
  it('signs in once, after a click', async () => {
    const email = randomEmail()
    await signUp(website, { email })
    const visitor = await visit('/sign-in/link?next=/settings/profile')
    await visitor.submit('/sign-in/link', { email })
    const { path } = await website.waitForMail(email, /sign-in link/)
    expect((await visitor.get(path)).body).toContain(email)
    expect((await visitor.get(path)).statusCode).toBe(200)
    expect((await visitor.submit(path)).headers.location).toBe('/settings/profile')
    expect((await visitor.get('/settings/profile')).statusCode).toBe(200)
    const other = await visit('/sign-in')
    expect((await other.submit(path)).statusCode).toBe(404)
  })

  it('deletes a password that was set before the address was verified', async () => {
    const email = randomEmail()
    const attacker = await visit('/sign-up')
    await attacker.submit('/sign-up', { name: 'Eve', email, password })
    const owner = await visit('/sign-in/link')
    await owner.submit('/sign-in/link', { email })
    const { path } = await website.waitForMail(email, /sign-in link/)
    await owner.get(path)
    expect((await owner.submit(path)).statusCode).toBe(303)
    expect((await signIn(email)).answer.statusCode).toBe(400)
  })
})

describe('guessing passwords', () => {
  async function startLimited() {
    const limited = await startWebsite({
      environment: { SIGN_IN_LIMIT_PER_MINUTE: '3', TRUST_PROXY: 'loopback' },
    })
    /** Tries a password for an account, from a client address. */
    const signInFrom = async (address: string, email: string, tried: string) => {
      const visitor = createVisitor(limited)
      await visitor.get('/sign-in')
      return visitor.submit('/sign-in', { email, password: tried }, { 'x-forwarded-for': address })
    }
    return { limited, signInFrom }
  }

  async function createAccount({ services }: Awaited<ReturnType<typeof startLimited>>['limited']) {
    const email = randomEmail()
    await services.accounts.create({ email, name: 'Grace', isVerified: true })
    const owner = await services.accounts.findByEmail(email)
    const { url } = await services.credentials.createLink('sign_in', String(owner?.id))
    return { email, signInLink: new URL(url).pathname }
  }

  it('is limited per account and client address: returns 429 with Retry-After, and the page names the seconds', async () => {
    const { signInFrom } = await startLimited()
    const email = randomEmail()
    for (let i = 0; i < 3; i++) expect((await signInFrom('192.0.2.1', email, 'wrong')).statusCode).toBe(400)
    const refused = await signInFrom('192.0.2.1', ` ${email.toUpperCase()}`, 'wrong')
    expect(refused.statusCode).toBe(429)
    const seconds = Number(refused.headers['retry-after'])
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(60)
    expect(refused.body).toContain(`Too many failed sign-in attempts. Try again in ${seconds} second`)
    expect(refused.body).toContain(`value=" ${email.toUpperCase()}"`)
    // Neither another account from this address nor the account from another address is limited.
    expect((await signInFrom('192.0.2.1', randomEmail(), 'wrong')).statusCode).toBe(400)
    expect((await signInFrom('192.0.2.2', email, 'wrong')).statusCode).toBe(400)
  })

  it('does not count successful sign-ins', async () => {
    const { signInFrom, limited } = await startLimited()
    const email = randomEmail()
    await limited.services.credentials.signUp({ name: 'Grace', email, password })
    await limited.db.execute(sql`update users set email_verified_at = now() where email = ${email}`)
    for (let i = 0; i < 35; i++) expect((await signInFrom('192.0.2.1', email, password)).statusCode).toBe(303)
  })

  it('is limited per client address across all accounts', async () => {
    const { signInFrom } = await startLimited()
    for (let i = 0; i < 30; i++)
      expect((await signInFrom('192.0.2.1', randomEmail(), 'wrong')).statusCode).toBe(400)
    expect((await signInFrom('192.0.2.1', randomEmail(), 'wrong')).statusCode).toBe(429)
    expect((await signInFrom('192.0.2.2', randomEmail(), 'wrong')).statusCode).toBe(400)
  })

  it('is limited per account across all client addresses, while an emailed link still works', async () => {
    const started = await startLimited()
    const { email, signInLink } = await createAccount(started.limited)
    const { signInFrom } = started
    for (let i = 0; i < 30; i++)
      expect((await signInFrom(`192.0.2.${i}`, email, 'wrong')).statusCode).toBe(400)
    const refused = await signInFrom('192.0.2.200', email, 'wrong')
    expect(refused.statusCode).toBe(429)
    expect(refused.body).toContain('Sign in with an emailed link instead.')
    const owner = createVisitor(started.limited)
    await owner.get('/sign-in/link')
    expect((await owner.submit('/sign-in/link', { email })).statusCode).toBe(200)
    await owner.get(signInLink)
    expect((await owner.submit(signInLink)).statusCode).toBe(303)
  })

  it('allows no more attempts in concurrent requests than in sequential ones', async () => {
    const { signInFrom } = await startLimited()
    const email = randomEmail()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => signInFrom('192.0.2.1', email, 'wrong')),
    )
    expect(answers.filter(({ statusCode }) => statusCode === 400)).toHaveLength(3)
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(17)
  })
})

describe('requesting emails', () => {
  it('is limited per recipient across all forms: returns 429, and does not affect other recipients', async () => {
    const limited = await startWebsite({
      environment: { MAIL_LIMIT_PER_HOUR: '2', TRUST_PROXY: 'loopback' },
    })
    const request = async (path: string, email: string, address: string) => {
      const visitor = createVisitor(limited)
      await visitor.get(path)
      const fields = path === '/sign-up' ? { name: 'Eve', email, password } : { email }
      return visitor.submit(path, fields, { 'x-forwarded-for': address })
    }
    const email = randomEmail()
    expect((await request('/forgot', email, '192.0.2.3')).statusCode).toBe(200)
    expect((await request('/sign-in/link', email, '192.0.2.3')).statusCode).toBe(200)
    for (const path of ['/forgot', '/sign-in/link', '/verify', '/sign-up']) {
      const refused = await request(path, email, '192.0.2.3')
      expect(refused.statusCode).toBe(429)
      expect(refused.body).toMatch(/Too many emails to this address.* Try again in \d+ minutes\./)
      expect(refused.body).toContain(`value="${email}"`)
    }
    expect((await request('/forgot', randomEmail(), '192.0.2.3')).statusCode).toBe(200)
  })

  it('is limited per client address, to ten times the limit per recipient', async () => {
    const limited = await startWebsite({ environment: { MAIL_LIMIT_PER_HOUR: '1' } })
    const request = async () => {
      const visitor = createVisitor(limited)
      await visitor.get('/forgot')
      return (await visitor.submit('/forgot', { email: randomEmail() })).statusCode
    }
    for (let i = 0; i < 10; i++) expect(await request()).toBe(200)
    expect(await request()).toBe(429)
  })
})

describe('passwords with hashes as in production', () => {
  const start = async () =>
    startWebsite({ passwords: createArgon2Passwords(), environment: { DATABASE_URL: await clone() } })
  let inProduction: Awaited<ReturnType<typeof start>>

  beforeAll(async () => {
    inProduction = await start()
  })

  it('are hashed by argon2id with the parameters that OWASP recommends', async () => {
    const email = randomEmail()
    await signUp(inProduction, { email })
    const [row] = await selectRows<{ hash: string }>(
      inProduction.db,
      sql`select hash from users join passwords on passwords.user_id = users.id where email = ${email}`,
    )
    expect(row?.hash).toMatch(/^\$argon2id\$v=19\$m=19456,(t=2,p=1|p=1,t=2)\$/)
  })
})
