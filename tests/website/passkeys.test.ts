import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createAuthenticator, type Deviation } from '../support/authenticator.ts'
import { randomEmail } from '../support/company.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows } from '../support/test-app.ts'
import { createVisitor, noticeOn, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { db } = website
const origin = website.config.webUrl

const minute = 60 * 1000
const page = '/settings/security/passkeys'

const askForUse = async (visitor: Visitor) =>
  (await visitor.post('/sign-in/passkey/options')).json<{ challenge: string }>()

async function askForCreation(visitor: Visitor) {
  await visitor.get(page)
  return (await visitor.post(`${page}/options`)).json<{ challenge: string; excludeCredentials: unknown[] }>()
}

async function addPasskey(visitor: Visitor, name = 'Phone', deviation: Deviation = {}) {
  const authenticator = createAuthenticator({ origin })
  const credential = authenticator.create(await askForCreation(visitor), deviation)
  return { authenticator, answer: await visitor.submit(page, { name, credential }) }
}

/** A person with a passkey. */
async function createPerson() {
  const email = randomEmail()
  const visitor = await signUp(website, { email })
  const { authenticator } = await addPasskey(visitor)
  return { email, visitor, authenticator }
}

async function openSignIn() {
  const visitor = createVisitor(website)
  await visitor.get('/sign-in')
  return visitor
}

const sendUse = (visitor: Visitor, credential: string, next = '') =>
  visitor.submit('/sign-in/passkey', { credential, next })
const isSignedIn = async (visitor: Visitor) => (await visitor.get('/onboarding')).statusCode === 200
const listPasskeys = (email: string) =>
  selectRows<{ id: string; name: string; sign_count: string }>(
    db,
    sql`select passkeys.id, passkeys.name, sign_count from passkeys join users on users.id = user_id where email = ${email}`,
  )

describe('adding a passkey', () => {
  it('lists it, and notifies the person by email', async () => {
    const { email, visitor } = await createPerson()
    expect((await visitor.get(page)).body).toContain('<bdi>Phone</bdi>')
    const { text } = await website.waitForMail(email, /passkey was added/)
    expect(text).toContain('Phone')
    expect((await askForCreation(visitor)).excludeCredentials).toHaveLength(1)
    expect((await visitor.get('/settings/security')).body).toContain('You have 1 passkey.')
  })

  it.each<[string, Deviation]>([
    ['another origin', { origin: 'https://evil.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['an authenticator that did not verify the person', { isUserVerified: false }],
  ])('returns 400 when the credential is from %s', async (_, deviation) => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const { answer } = await addPasskey(visitor, 'Phone', deviation)
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('The passkey could not be verified.')
    expect(await listPasskeys(email)).toEqual([])
  })

  it('returns 400 for a challenge that is used, expired, another person’s or missing, and for a malformed credential', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const options = await askForCreation(visitor)
    const [first, second] = [createAuthenticator({ origin }), createAuthenticator({ origin })]
    const ticket = String(visitor.cookies.get('passkey'))
    const added = await visitor.submit(page, { name: 'A', credential: first.create(options) })
    expect(noticeOn(added.body)).toBe('The passkey “A” was added.')
    await visitor.get(page)
    const again = { name: 'B', credential: second.create(options) }
    expect((await visitor.submit(page, again)).statusCode).toBe(400)

    const late = await askForCreation(visitor)
    clock.advance(5 * minute)
    expect((await visitor.submit(page, { name: 'B', credential: second.create(late) })).statusCode).toBe(400)

    const other = await signUp(website, { email: randomEmail() })
    await askForCreation(other)
    const theirs = String(other.cookies.get('passkey'))
    const fresh = await askForCreation(visitor)
    for (const stolen of [theirs, ticket, 'AAAA', '']) {
      visitor.cookies.set('passkey', stolen)
      await visitor.get(page)
      const sent = { name: 'B', credential: second.create(fresh) }
      expect((await visitor.submit(page, sent)).statusCode).toBe(400)
    }
    await askForCreation(visitor)
    for (const credential of [
      '',
      '{}',
      '[]',
      'null',
      '{"id":5}',
      '{"id":"abc"}',
      '{"id":"abc","response":{}}',
    ]) {
      await visitor.get(page)
      expect((await visitor.submit(page, { name: 'B', credential })).statusCode, credential).toBe(400)
    }
    expect(await listPasskeys(email)).toMatchObject([{ name: 'A' }])
  })

  it('requires a name, and an identity confirmed within 15 minutes', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const { answer } = await addPasskey(visitor, ' ')
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('The name must not be blank')
    clock.advance(15 * minute)
    await visitor.get('/settings/security')
    expect((await visitor.post(`${page}/options`)).statusCode).toBe(303)
    expect((await visitor.post(page, { name: 'Phone', credential: '{}' })).headers.location).toContain(
      '/confirm?',
    )
  })
})

describe('signing in with a passkey', () => {
  it('needs neither a password nor a second step, and redirects to the requested page', async () => {
    const { email, authenticator } = await createPerson()
    const visitor = await openSignIn()
    const credential = authenticator.get(await askForUse(visitor))
    expect((await sendUse(visitor, credential, '/settings/profile')).headers.location).toBe(
      '/settings/profile',
    )
    expect(await isSignedIn(visitor)).toBe(true)
    expect(await listPasskeys(email)).toMatchObject([{ sign_count: '1' }])
  })

  it('rejects a replayed credential, also when both requests are concurrent', async () => {
    const { authenticator } = await createPerson()
    const visitor = await openSignIn()
    const credential = authenticator.get(await askForUse(visitor))
    const thief = await openSignIn()
    for (const name of ['passkey', 'visitor']) thief.cookies.set(name, String(visitor.cookies.get(name)))
    await thief.get('/sign-in')
    const answers = await Promise.all([
      visitor.post('/sign-in/passkey', { credential }),
      thief.post('/sign-in/passkey', { credential }),
    ])
    expect(answers.filter(({ headers }) => headers.location === '/')).toHaveLength(1)
    const sessions = [await isSignedIn(visitor), await isSignedIn(thief)]
    expect(sessions.filter(Boolean)).toHaveLength(1)
  })

  it.each<[string, Deviation]>([
    ['from another origin', { origin: 'https://evil.example' }],
    ['for another relying party', { rpId: 'evil.example' }],
    ['without verifying the person', { isUserVerified: false }],
    ['when the signature counter did not increase, as with a cloned authenticator', { signCount: 1 }],
  ])('returns 400 %s', async (_, deviation) => {
    const { authenticator } = await createPerson()
    const first = await openSignIn()
    await sendUse(first, authenticator.get(await askForUse(first)))
    const visitor = await openSignIn()
    const answer = await sendUse(visitor, authenticator.get(await askForUse(visitor), deviation))
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('The passkey could not be verified.')
    expect(await isSignedIn(visitor)).toBe(false)
  })

  it('returns 400 for an unknown or removed passkey or an expired challenge, and 403 without a valid CSRF token', async () => {
    const { email, visitor: owner, authenticator } = await createPerson()
    const visitor = await openSignIn()
    const unknown = createAuthenticator({ origin })
    expect((await sendUse(visitor, unknown.get(await askForUse(visitor)))).statusCode).toBe(400)
    const late = authenticator.get(await askForUse(visitor))
    clock.advance(5 * minute)
    expect((await sendUse(visitor, late)).statusCode).toBe(400)
    const credential = authenticator.get(await askForUse(visitor))
    const forged = await visitor.post('/sign-in/passkey', { credential, _csrf: 'another' })
    expect(forged.statusCode).toBe(403)

    const [passkey] = await listPasskeys(email)
    await owner.get(page)
    const removed = await owner.submit(`${page}/${String(passkey?.id)}/remove`)
    expect(noticeOn(removed.body)).toBe(`The passkey “${String(passkey?.name)}” was removed.`)
    await website.waitForMail(email, /passkey was removed/)
    await visitor.get('/sign-in')
    expect((await sendUse(visitor, authenticator.get(await askForUse(visitor)))).statusCode).toBe(400)
    expect(await isSignedIn(visitor)).toBe(false)
  })

  const turnOnTwoStep = (email: string) =>
    db.execute(sql`insert into authenticator_apps (user_id, sealed_secret, created_at, confirmed_at)
      select id, '', now(), now() from users where email = ${email}`)

  it('is offered at the second step only to people who have a passkey', async () => {
    const { email } = await createPerson()
    const other = randomEmail()
    await signUp(website, { email: other })
    for (const [address, isOffered] of [
      [email, true],
      [other, false],
    ] as const) {
      await turnOnTwoStep(address)
      const visitor = await openSignIn()
      await visitor.submit('/sign-in', { email: address, password })
      await visitor.get('/sign-in/second-step')
      expect(visitor.page()).toContain('Code from your authenticator app')
      expect(visitor.page().includes('action="/sign-in/passkey"')).toBe(isOffered)
      expect(visitor.page().includes('/assets/passkeys')).toBe(isOffered)
    }
  })

  it('needs no code when two-step sign-in is on', async () => {
    const { email, authenticator } = await createPerson()
    await turnOnTwoStep(email)
    const visitor = await openSignIn()
    expect((await visitor.submit('/sign-in', { email, password })).headers.location).toBe(
      '/sign-in/second-step',
    )
    await visitor.get('/sign-in/second-step')
    expect((await sendUse(visitor, authenticator.get(await askForUse(visitor)))).headers.location).toBe('/')
    expect(await isSignedIn(visitor)).toBe(true)
  })
})

describe('a passkey', () => {
  it('confirms the identity of its owner only', async () => {
    const { visitor, authenticator } = await createPerson()
    const other = await createPerson()
    clock.advance(15 * minute)
    const confirm = `/settings/security/confirm?next=${page}`
    await visitor.get(confirm)
    const prove = async (used: typeof authenticator) => {
      const credential = used.get(await askForUse(visitor))
      return visitor.submit('/settings/security/confirm/passkey', { credential, next: page })
    }
    expect((await prove(other.authenticator)).statusCode).toBe(400)
    expect((await visitor.get(page)).statusCode).toBe(303)
    await visitor.get(confirm)
    expect((await prove(authenticator)).headers.location).toBe(page)
    expect((await visitor.get(page)).statusCode).toBe(200)
  })

  it('is renamed and removed by its owner only', async () => {
    const { email, visitor } = await createPerson()
    const other = await createPerson()
    const [passkey] = await listPasskeys(email)
    const path = `${page}/${String(passkey?.id)}`
    await other.visitor.get(page)
    expect((await other.visitor.submit(`${path}/rename`, { newName: 'Mine' })).statusCode).toBe(404)
    expect((await other.visitor.submit(`${path}/remove`)).statusCode).toBe(404)
    await visitor.get(page)
    const renamed = await visitor.submit(`${path}/rename`, { newName: ' Old phone ' })
    expect(noticeOn(renamed.body)).toBe('The passkey is now called “Old phone”.')
    expect(await listPasskeys(email)).toMatchObject([{ name: 'Old phone' }])
  })
})
