import { sql } from 'drizzle-orm'
import { generateSync } from 'otplib'
import { describe, expect, it } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createVisitor, noticeOn, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const appSecret = { APP_SECRET: 'a secret of the installation, of at least 32 characters' }
const website = await startWebsite({ clock, environment: appSecret })
const { db, services } = website

const minute = 60 * 1000
const page = '/settings/security/two-step'

/** The code that an authenticator app shows, some steps of 30 seconds from now. */
const codeOf = (secret: string, steps = 0) =>
  generateSync({ secret, epoch: Math.floor(clock.now().getTime() / 1000) + steps * 30 })

const isSignedIn = async (visitor: Visitor) => (await visitor.get('/onboarding')).statusCode === 200

/** A person with two-step sign-in. The next code works, since the clock moves on. */
async function createCarefulPerson() {
  const email = randomEmail()
  const visitor = await signUp(website, { email })
  await visitor.get(page)
  await visitor.submit(`${page}/begin`)
  await visitor.get(page)
  const secret = (/id="secret"[^>]*value="([A-Z2-7 ]+)"/.exec(visitor.page())?.[1] ?? '').replaceAll(' ', '')
  const shown = await visitor.submit(`${page}/confirm`, { code: codeOf(secret) })
  const codes = codesOf(shown.body)
  expect(codes).toHaveLength(10)
  clock.advance(minute)
  return { email, visitor, secret, codes }
}

const codesOf = (body: string) => body.match(/\b(?:[a-z2-9]{4}-){3}[a-z2-9]{4}\b/g) ?? []

/** Enters the password, in another browser. */
async function enterPassword(email: string, next?: string): Promise<Visitor> {
  const visitor = createVisitor(website)
  await visitor.get('/sign-in')
  const answer = await visitor.submit('/sign-in', { email, password, ...(next !== undefined && { next }) })
  expect(answer.headers.location).toBe('/sign-in/second-step')
  await visitor.get('/sign-in/second-step')
  return visitor
}

const enter = (visitor: Visitor, code: string) => visitor.submit('/sign-in/second-step', { code })

const codesLeft = async (email: string) => {
  const rows = await selectRows(
    db,
    sql`select 1 from recovery_codes join users on users.id = user_id where email = ${email}`,
  )
  return rows.length
}

describe('setting up two-step sign-in', () => {
  it('has no effect after a wrong code', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    await visitor.get(page)
    await visitor.submit(`${page}/begin`)
    const setup = await visitor.get(page)
    expect(setup.body).toContain('src="data:image/svg+xml;base64,')
    const wrong = await visitor.submit(`${page}/confirm`, { code: '000000' })
    expect(wrong.statusCode).toBe(400)
    expect(wrong.body).toContain('The code is incorrect')
    const other = createVisitor(website)
    await other.get('/sign-in')
    expect((await other.submit('/sign-in', { email, password })).headers.location).toBe('/')
  })

  it('stores neither the secret nor the recovery codes in plain text, and shows the codes once', async () => {
    const { email, visitor, secret, codes } = await createCarefulPerson()
    const [row] = await selectRows<{ sealed: Buffer }>(
      db,
      sql`select sealed_secret as sealed from authenticator_apps join users on users.id = user_id where email = ${email}`,
    )
    expect(row?.sealed.toString('latin1')).not.toContain(secret)
    expect((await visitor.get(page)).body).toContain('10 recovery codes')
    expect(codesOf(visitor.page())).toEqual([])
    for (const text of [secret, ...codes]) expect(website.log.join('')).not.toContain(text)
    expect((await website.waitForMail(email, /Two-step sign-in is on/)).path).toBe('/settings/security')
  })

  it('keeps the secret of a confirmed app when the setup is started again', async () => {
    const { email, visitor, secret } = await createCarefulPerson()
    await visitor.get(page)
    expect((await visitor.submit(`${page}/begin`)).statusCode).toBe(303)
    expect((await visitor.submit(`${page}/confirm`, { code: codeOf(secret) })).statusCode).toBe(409)
    const other = await enterPassword(email)
    expect((await enter(other, codeOf(secret))).statusCode).toBe(303)
  })
})

describe('signing in with two-step sign-in', () => {
  it('needs the password and a code, and redirects to the requested page', async () => {
    const { email, secret } = await createCarefulPerson()
    const visitor = await enterPassword(email, '/settings/profile')
    expect(await isSignedIn(visitor)).toBe(false)
    await visitor.get('/sign-in/second-step')
    const answer = await enter(visitor, codeOf(secret).replace(/^.../, '$& '))
    expect(answer.headers.location).toBe('/settings/profile')
    expect(await isSignedIn(visitor)).toBe(true)
    expect(visitor.cookies.has('second-step')).toBe(false)
  })

  it.each([-1, 1])(
    'accepts a code that is %i time step away, but not one that is two steps away',
    async (steps) => {
      const { email, secret } = await createCarefulPerson()
      clock.advance(5 * minute)
      const visitor = await enterPassword(email)
      expect((await enter(visitor, codeOf(secret, 2 * steps))).statusCode).toBe(400)
      expect((await enter(visitor, codeOf(secret, steps))).statusCode).toBe(303)
    },
  )

  it('rejects a used code, and earlier codes', async () => {
    const { email, secret } = await createCarefulPerson()
    const code = codeOf(secret)
    const earlier = codeOf(secret, -1)
    const first = await enterPassword(email)
    const second = await enterPassword(email)
    expect((await enter(first, code)).statusCode).toBe(303)
    expect((await enter(second, code)).statusCode).toBe(400)
    expect((await enter(second, earlier)).statusCode).toBe(400)
    expect(await isSignedIn(second)).toBe(false)
  })

  it('accepts a code once when two concurrent requests send it', async () => {
    const { email, secret } = await createCarefulPerson()
    const visitors = [await enterPassword(email), await enterPassword(email)]
    const answers = await Promise.all(visitors.map((visitor) => enter(visitor, codeOf(secret))))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, 400])
  })

  it('accepts a recovery code once, in any letter case and spacing, also when sent concurrently', async () => {
    const { email, codes } = await createCarefulPerson()
    const [code = ''] = codes
    const typed = code.toUpperCase().replaceAll('-', ' ')
    const visitors = [await enterPassword(email), await enterPassword(email)]
    const answers = await Promise.all(visitors.map((visitor) => enter(visitor, typed)))
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([303, 400])
    const { text } = await website.waitForMail(email, /recovery code was used/)
    expect(text.replaceAll(/\s+/g, ' ')).toContain('You have 9 recovery codes left.')
    expect((await enter(await enterPassword(email), code)).statusCode).toBe(400)
    expect(await codesLeft(email)).toBe(9)
  })

  it('also needs a code after an emailed sign-in link', async () => {
    const { email, secret } = await createCarefulPerson()
    const visitor = createVisitor(website)
    await visitor.get('/sign-in/link')
    await visitor.submit('/sign-in/link', { email })
    const { path } = await website.waitForMail(email, /sign-in link/)
    await visitor.get(path)
    expect((await visitor.submit(path)).headers.location).toBe('/sign-in/second-step')
    expect(await isSignedIn(visitor)).toBe(false)
    await visitor.get('/sign-in/second-step')
    expect((await enter(visitor, codeOf(secret))).statusCode).toBe(303)
    expect(await isSignedIn(visitor)).toBe(true)
  })

  it('needs a code after a password reset, which also ends pending sign-ins', async () => {
    const { email, secret } = await createCarefulPerson()
    const waiting = await enterPassword(email)
    const visitor = createVisitor(website)
    await visitor.get('/forgot')
    await visitor.submit('/forgot', { email })
    const { path } = await website.waitForMail(email, /Choose a new password/)
    await visitor.get(path)
    await visitor.submit(path, { password: 'another long password' })
    expect((await enter(waiting, codeOf(secret))).headers.location).toBe('/sign-in?done=second-step-expired')
    await visitor.get('/sign-in')
    const answer = await visitor.submit('/sign-in', { email, password: 'another long password' })
    expect(answer.headers.location).toBe('/sign-in/second-step')
  })

  it('gives the same response to a wrong password as for an unknown address', async () => {
    const { email } = await createCarefulPerson()
    const answers = []
    for (const address of [email, randomEmail()]) {
      const visitor = createVisitor(website)
      await visitor.get('/sign-in')
      const { statusCode, body } = await visitor.submit('/sign-in', {
        email: address,
        password: 'not the password',
      })
      answers.push(`${statusCode} ${body.replace(/value="[^"]*"/g, '')}`)
    }
    expect(answers[0]).toBe(answers[1])
  })
})

describe('a pending sign-in', () => {
  it('can be completed only in its own browser', async () => {
    const { email, secret } = await createCarefulPerson()
    const visitor = await enterPassword(email)
    const thief = createVisitor(website)
    await thief.get('/sign-in')
    thief.cookies.set('second-step', String(visitor.cookies.get('second-step')))
    expect((await thief.get('/sign-in/second-step')).headers.location).toBe(
      '/sign-in?done=second-step-expired',
    )
    expect((await enter(thief, codeOf(secret))).statusCode).toBe(303)
    expect(await isSignedIn(thief)).toBe(false)
    await visitor.get('/sign-in/second-step')
    expect((await enter(visitor, codeOf(secret))).statusCode).toBe(303)
    expect(await isSignedIn(visitor)).toBe(true)
  })

  it('expires after ten minutes', async () => {
    const { email, secret } = await createCarefulPerson()
    const visitor = await enterPassword(email)
    clock.advance(10 * minute)
    expect((await enter(visitor, codeOf(secret))).headers.location).toBe('/sign-in?done=second-step-expired')
    expect((await visitor.open('/sign-in?done=second-step-expired')).body).toContain('has expired')
    expect(await isSignedIn(visitor)).toBe(false)
  })

  it('ends after five wrong codes, also when sent concurrently, and notifies the person by email', async () => {
    const { email, secret } = await createCarefulPerson()
    const visitor = await enterPassword(email)
    const guess = () => visitor.post('/sign-in/second-step', { code: '000000' })
    const answers = await Promise.all(Array.from({ length: 12 }, guess))
    expect(answers.filter(({ headers }) => headers.location?.includes('flash='))).toHaveLength(4)
    expect((await enter(visitor, codeOf(secret))).headers.location).toBe('/sign-in?done=second-step-expired')
    await website.waitForMail(email, /failed at the second step/)
  })

  it('returns 403 without a valid CSRF token', async () => {
    const { email, secret } = await createCarefulPerson()
    const visitor = await enterPassword(email)
    const fields = { code: codeOf(secret), _csrf: 'another' }
    expect((await visitor.submit('/sign-in/second-step', fields)).statusCode).toBe(403)
    expect(await isSignedIn(visitor)).toBe(false)
  })
})

describe('guessing codes', () => {
  it('is limited per account, across all pending sign-ins', async () => {
    const environment = { ...appSecret, SIGN_IN_LIMIT_PER_MINUTE: '3' }
    const limited = await startTestApp({ clock, environment })
    const { email, secret } = await createCarefulPerson()
    const begin = async () => {
      const visitor = createVisitor(limited)
      await visitor.get('/sign-in')
      await visitor.submit('/sign-in', { email, password })
      await visitor.get('/sign-in/second-step')
      return visitor
    }
    for (let i = 0; i < 3; i++) expect((await enter(await begin(), '000000')).statusCode).toBe(400)
    const refused = await enter(await begin(), codeOf(secret))
    expect(refused.statusCode).toBe(429)
    expect(refused.body).toContain('Too many failed sign-in attempts')
  })
})

describe('managing two-step sign-in', () => {
  it('replaces the recovery codes, and notifies the person by email', async () => {
    const { email, visitor, codes } = await createCarefulPerson()
    await visitor.get(page)
    const fresh = codesOf((await visitor.submit(`${page}/recovery-codes`)).body)
    expect(fresh).toHaveLength(10)
    await website.waitForMail(email, /new recovery codes/)
    expect((await enter(await enterPassword(email), String(codes[0]))).statusCode).toBe(400)
    expect((await enter(await enterPassword(email), String(fresh[0]))).statusCode).toBe(303)
  })

  it('turns it off, notifies the person by email, and deletes the recovery codes', async () => {
    const { email, visitor } = await createCarefulPerson()
    const waiting = await enterPassword(email)
    await visitor.get(page)
    expect(noticeOn((await visitor.submit(`${page}/remove`)).body)).toBe('Two-step sign-in is off.')
    await website.waitForMail(email, /Two-step sign-in is off/)
    expect(await codesLeft(email)).toBe(0)
    expect((await waiting.get('/sign-in/second-step')).statusCode).toBe(303)
    const other = createVisitor(website)
    await other.get('/sign-in')
    expect((await other.submit('/sign-in', { email, password })).headers.location).toBe('/')
  })

  it('lets an operator turn it off, and notifies the person by email', async () => {
    const { email } = await createCarefulPerson()
    const user = await services.accounts.findByEmail(email)
    expect(await services.secondFactor.removeOf(String(user?.id))).toBe(true)
    expect(await services.secondFactor.removeOf(String(user?.id))).toBe(false)
    const { text } = await website.waitForMail(email, /Two-step sign-in is off/)
    expect(text).toContain('An operator')
  })
})

describe('confirming one’s identity', () => {
  const old = 15 * minute

  it('is required 15 minutes after signing in, to open the page and to send its form', async () => {
    const visitor = await signUp(website, { email: randomEmail() })
    expect((await visitor.get(page)).statusCode).toBe(200)
    clock.advance(old)
    const location = `/settings/security/confirm?next=${encodeURIComponent(page)}`
    expect((await visitor.get(page)).headers.location).toBe(location)
    expect((await visitor.submit(`${page}/begin`)).headers.location).toBe(location)
    await visitor.get(location)
    const confirm = (chosen: string) =>
      visitor.submit('/settings/security/confirm/password', { password: chosen, next: page })
    const wrong = await confirm('not the password')
    expect(wrong.statusCode).toBe(400)
    expect(wrong.body).toContain('This password is incorrect.')
    expect(wrong.body).toContain(`name="next" value="${page}"`)
    expect((await visitor.get(page)).statusCode).toBe(303)
    await visitor.get(location)
    expect((await confirm(password)).headers.location).toBe(page)
    expect((await visitor.get(page)).statusCode).toBe(200)
    expect((await visitor.get(location)).headers.location).toBe(page)
  })

  it('returns 409 for a password while two-step sign-in is on, and needs a code', async () => {
    const { email, visitor, secret } = await createCarefulPerson()
    clock.advance(old)
    const location = `/settings/security/confirm?next=${encodeURIComponent(page)}`
    await visitor.get(location)
    expect(visitor.page()).not.toContain('name="password"')
    const fields = { password, next: page }
    expect((await visitor.submit('/settings/security/confirm/password', fields)).statusCode).toBe(409)
    for (const path of ['remove', 'recovery-codes'])
      expect((await visitor.submit(`${page}/${path}`)).headers.location).toBe(location)
    await visitor.get('/settings/security')
    for (const path of ['passkeys', 'email', 'api-keys'])
      expect((await visitor.submit(`/settings/security/${path}`, { name: 'x' })).headers.location).toMatch(
        /confirm\?next=/,
      )
    await enterPassword(email)

    await visitor.get(location)
    const proof = { code: codeOf(secret), next: page }
    expect((await visitor.submit('/settings/security/confirm/code', proof)).headers.location).toBe(page)
    await visitor.get(page)
    expect(noticeOn((await visitor.submit(`${page}/remove`)).body)).toBe('Two-step sign-in is off.')
  })

  it('is required to create an API key, but not to revoke one', async () => {
    const visitor = await signUp(website, { email: randomEmail() })
    const keys = '/settings/security/api-keys'
    await visitor.get(keys)
    await visitor.submit(keys, { name: 'Laptop' })
    const [, id] = /api-keys\/([0-9a-f-]{36})\/revoke/.exec((await visitor.get(keys)).body) ?? []
    clock.advance(old)
    expect((await visitor.submit(keys, { name: 'Late' })).headers.location).toContain('/confirm?next=')
    const revoked = await visitor.submit(`${keys}/${String(id)}/revoke`)
    // The notice waits for the proof.
    const { location = '' } = revoked.headers
    const next = new URL(location, 'http://local.invalid').searchParams.get('next')
    expect(location).toContain('/confirm?next=')
    await website.db.execute(sql`update sessions set proven_at = ${clock.now().toISOString()}::timestamptz`)
    expect(noticeOn((await visitor.get(String(next))).body)).toBe('The key “Laptop” was revoked.')
  })

  it('accepts a code once, or a recovery code once', async () => {
    const { visitor, secret, codes } = await createCarefulPerson()
    const ask = async (code: string) => {
      await visitor.get(`/settings/security/confirm?next=${page}`)
      return (await visitor.submit('/settings/security/confirm/code', { code, next: page })).statusCode
    }
    for (const makeCode of [() => codeOf(secret), () => String(codes[0])]) {
      clock.advance(old)
      const code = makeCode()
      expect(await ask('000000')).toBe(400)
      expect(await ask(code)).toBe(303)
      expect((await visitor.get(page)).statusCode).toBe(200)
      clock.advance(old)
      expect(await ask(code)).toBe(400)
    }
  })

  it('accepts an emailed link if the person has no password, and redirects back', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    await db.execute(sql`delete from passwords using users where users.id = user_id and email = ${email}`)
    clock.advance(old)
    await visitor.get(`/settings/security/confirm?next=${page}`)
    expect((await visitor.submit('/settings/security/confirm/link', { next: page })).statusCode).toBe(200)
    const { path } = await website.waitForMail(email, /sign-in link/)
    await visitor.get(path)
    expect((await visitor.submit(path)).headers.location).toBe(page)
    expect((await visitor.get(page)).statusCode).toBe(200)
  })

  it('never redirects to another site, and is required for sessions without a stored confirmation', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const away = '/settings/security/confirm?next=https://evil.example/'
    expect((await visitor.get(away)).headers.location).toBe('/settings/security')
    await db.execute(
      sql`update sessions set proven_at = null from users where users.id = user_id and email = ${email}`,
    )
    expect((await visitor.get(page)).statusCode).toBe(303)
    await visitor.get(away)
    const fields = { password, next: '//evil.example' }
    expect((await visitor.submit('/settings/security/confirm/password', fields)).headers.location).toBe(
      '/settings/security',
    )
  })
})
