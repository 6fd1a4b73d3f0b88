import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createAuthenticator, type Deviation } from '../support/authenticator.ts'
import { createCompany, randomEmail } from '../support/company.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows } from '../support/test-app.ts'
import { createVisitor, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock })
const { as, db } = website
const origin = website.config.webUrl
const company = await createCompany(website)

const minute = 60 * 1000
const page = '/settings/security/passkeys'
const confirm = '/settings/security/confirm'

type Authenticator = ReturnType<typeof createAuthenticator>
interface Challenge {
  challenge: string
}

const handleOf = (id: string) => Buffer.from(id).toString('base64url')

const askForUse = async (visitor: Visitor) =>
  (await visitor.post('/sign-in/passkey/options')).json<Challenge>()

async function askForCreation(visitor: Visitor) {
  await visitor.get(page)
  return (await visitor.post(`${page}/options`)).json<Challenge & { user: { id: string } }>()
}

async function addPasskey(visitor: Visitor, authenticator = createAuthenticator({ origin })) {
  const credential = authenticator.create(await askForCreation(visitor))
  const answer = await visitor.submit(page, { name: 'Phone', credential })
  return { authenticator, answer }
}

/** A person with a passkey, signed in. */
async function createPerson() {
  const email = randomEmail()
  const visitor = await signUp(website, { email })
  const { authenticator } = await addPasskey(visitor)
  const [row] = await selectRows<{ id: string }>(db, sql`select id from users where email = ${email}`)
  return { email, id: String(row?.id), visitor, authenticator }
}

async function openSignIn() {
  const visitor = createVisitor(website)
  await visitor.get('/sign-in')
  return visitor
}

const sendUse = (visitor: Visitor, credential: string) => visitor.submit('/sign-in/passkey', { credential })

const signIn = async (visitor: Visitor, authenticator: Authenticator, deviation: Deviation = {}) =>
  sendUse(visitor, authenticator.get(await askForUse(visitor), deviation))

/** The address of who is signed in; undefined for nobody. */
async function addressOf(visitor: Visitor): Promise<string | undefined> {
  const { body } = await visitor.get('/settings/profile')
  return /[\w-]+@example\.com/.exec(body)?.[0]
}

const listPasskeys = (email: string) =>
  selectRows<{ credential_id: string; sign_count: string }>(
    db,
    sql`select credential_id, sign_count from passkeys join users on users.id = user_id where email = ${email}`,
  )

const turnOnTwoStep = (email: string) =>
  db.execute(sql`insert into authenticator_apps (user_id, sealed_secret, created_at, confirmed_at)
    select id, '', now(), now() from users where email = ${email}`)

/** Changes a field of the answer of a browser. */
function forge(credential: string, change: (sent: { id: string; rawId: string } & Sent) => void): string {
  const sent = JSON.parse(credential) as { id: string; rawId: string } & Sent
  change(sent)
  return JSON.stringify(sent)
}

interface Sent {
  response: Record<string, string>
}

/** What the browser sends to create a passkey, where its use is asked for, and the other way round. */
const swapped: [string, Deviation][] = [
  ['names the other ceremony', { type: 'webauthn.create' }],
  ['names the ceremony of payments', { type: 'payment.get' }],
  ['names another scheme', { origin: origin.replace(/^http:/, 'ftp:') }],
  ['names another port', { origin: `${origin}1` }],
  ['names a subdomain', { origin: origin.replace('://', '://evil.') }],
  ['names the origin with a path', { origin: `${origin}/` }],
  ['names no origin', { origin: 'null' }],
  ['is for a parent domain', { rpId: '' }],
  ['is for the relying party with a dot', { rpId: `${new URL(origin).hostname}.` }],
  ['saw nobody', { isUserPresent: false, isUserVerified: false }],
  ['verified, but saw nobody', { isUserPresent: false }],
  ['was in a frame of another origin', { crossOrigin: true }],
  ['was in a frame of a named origin', { crossOrigin: true, topOrigin: 'https://evil.example' }],
  ['names a top origin without a frame', { topOrigin: 'https://evil.example' }],
]

describe('an answer of a passkey that does not fit', () => {
  it.each(swapped)('signs nobody in when it %s', async (_, deviation) => {
    const { authenticator } = await createPerson()
    const visitor = await openSignIn()
    expect((await signIn(visitor, authenticator, deviation)).statusCode).toBe(400)
    expect(await addressOf(visitor)).toBeUndefined()
  })

  it.each([...swapped.slice(1), ['names the other ceremony', { type: 'webauthn.get' }] as const])(
    'adds no passkey when it %s',
    async (_, deviation: Deviation) => {
      const email = randomEmail()
      const visitor = await signUp(website, { email })
      const credential = createAuthenticator({ origin }).create(await askForCreation(visitor), deviation)
      expect((await visitor.submit(page, { name: 'Phone', credential })).statusCode).toBe(400)
      expect(await listPasskeys(email)).toEqual([])
    },
  )

  it('signs nobody in when its parts are of another answer, or of another passkey', async () => {
    const [victim, thief] = [await createPerson(), await createPerson()]
    const visitor = await openSignIn()
    const challenge = await askForUse(visitor)
    const own = thief.authenticator.get(challenge)
    const victimId = victim.authenticator.id.toString('base64url')
    const earlier = JSON.parse(victim.authenticator.get({ challenge: 'an earlier one' })) as Sent
    const forgeries = [
      forge(own, (sent) => (sent.id = sent.rawId = victimId)),
      forge(own, (sent) => (sent.id = victimId)),
      forge(own, (sent) => (sent.rawId = victimId)),
      forge(own, (sent) => (sent.id = `${sent.id}=`)),
      forge(own, (sent) => (sent.response.signature = String(earlier.response.signature))),
      forge(own, (sent) => (sent.response.clientDataJSON = String(earlier.response.clientDataJSON))),
      forge(victim.authenticator.get({ challenge: 'another' }), () => undefined),
      forge(victim.authenticator.get(challenge), (sent) => (sent.response.signature = '')),
      forge(victim.authenticator.get(challenge), (sent) => delete sent.response.authenticatorData),
      thief.authenticator.create(challenge),
    ]
    for (const credential of forgeries) {
      await visitor.get('/sign-in')
      expect((await sendUse(visitor, credential)).statusCode, credential).toBe(400)
      expect(await addressOf(visitor)).toBeUndefined()
    }
  })

  it('signs nobody in when the authenticator names another user than the owner of the passkey', async () => {
    const [victim, thief] = [await createPerson(), await createPerson()]
    for (const userHandle of [handleOf(victim.id), handleOf('x'), 'AAAA', '!']) {
      const visitor = await openSignIn()
      expect((await signIn(visitor, thief.authenticator, { userHandle })).statusCode, userHandle).toBe(400)
      expect(await addressOf(visitor)).toBeUndefined()
    }
    const visitor = await openSignIn()
    const options = await askForCreation(thief.visitor)
    expect(options.user.id).toBe(handleOf(thief.id))
    await signIn(visitor, thief.authenticator, { userHandle: options.user.id })
    expect(await addressOf(visitor)).toBe(thief.email)
  })

  it('signs nobody in when the counter has gone back, to zero too, or was seen before', async () => {
    const { email, authenticator } = await createPerson()
    const first = await openSignIn()
    await signIn(first, authenticator, { signCount: 40 })
    expect(await addressOf(first)).toBe(email)
    for (const signCount of [40, 39, 1, 0]) {
      const visitor = await openSignIn()
      expect((await signIn(visitor, authenticator, { signCount })).statusCode, String(signCount)).toBe(400)
      expect(await addressOf(visitor)).toBeUndefined()
    }
    expect(await listPasskeys(email)).toMatchObject([{ sign_count: '40' }])
  })

  it('signs in once when two clones of an authenticator answer at the same moment', async () => {
    const { email, authenticator } = await createPerson()
    const visitors = [await openSignIn(), await openSignIn()]
    const challenges = await Promise.all(visitors.map(askForUse))
    const answers = challenges.map((challenge) => authenticator.get(challenge, { signCount: 7 }))
    await Promise.all(
      visitors.map((visitor, i) => visitor.post('/sign-in/passkey', { credential: answers[i] ?? '' })),
    )
    const addresses = await Promise.all(visitors.map(addressOf))
    expect(addresses.filter((address) => address === email)).toHaveLength(1)
  })
})

describe('a challenge', () => {
  it('of one browser is not answered in another, nor after its use, nor as one of the other kind', async () => {
    const [victim, thief] = [await createPerson(), await createPerson()]
    const own = await openSignIn()
    const challenge = await askForUse(own)
    const credential = victim.authenticator.get(challenge)
    // The answer alone is worth nothing in a browser with a challenge of its own, or with none.
    const other = await openSignIn()
    expect((await sendUse(other, credential)).statusCode).toBe(400)
    await askForUse(other)
    expect((await sendUse(other, credential)).statusCode).toBe(400)
    expect(await addressOf(other)).toBeUndefined()
    // One for the registration of a passkey is none for its use.
    const registration = await askForCreation(thief.visitor)
    const ticket = String(thief.visitor.cookies.get('passkey'))
    await other.get('/sign-in')
    other.cookies.set('passkey', ticket)
    expect((await sendUse(other, victim.authenticator.get(registration))).statusCode).toBe(400)
    // And the other way round.
    const use = await askForUse(thief.visitor)
    const added = createAuthenticator({ origin }).create(use)
    await thief.visitor.get(page)
    expect((await thief.visitor.submit(page, { name: 'Another', credential: added })).statusCode).toBe(400)
    expect(await listPasskeys(thief.email)).toHaveLength(1)
    // The owner is not kept out by what the thief has tried.
    await sendUse(own, credential)
    expect(await addressOf(own)).toBe(victim.email)
  })

  it('that was used to sign in proves nothing afterwards', async () => {
    const { visitor, authenticator } = await createPerson()
    clock.advance(15 * minute)
    await visitor.get(`${confirm}?next=${page}`)
    const challenge = await askForUse(visitor)
    const ticket = String(visitor.cookies.get('passkey'))
    const credential = authenticator.get(challenge)
    const elsewhere = await openSignIn()
    elsewhere.cookies.set('passkey', ticket)
    await elsewhere.get('/sign-in')
    await sendUse(elsewhere, credential)
    expect(await addressOf(elsewhere)).toBeDefined()
    visitor.cookies.set('passkey', ticket)
    await visitor.get(`${confirm}?next=${page}`)
    const refused = await visitor.submit(`${confirm}/passkey`, { credential, next: page })
    expect(refused.statusCode).toBe(400)
    expect((await visitor.get(page)).statusCode).toBe(303)
  })
})

describe('a passkey of somebody else', () => {
  it('finishes no second step: it signs in its own owner, and the code is still asked for', async () => {
    const [victim, thief] = [await createPerson(), await createPerson()]
    await turnOnTwoStep(victim.email)
    const visitor = await openSignIn()
    await visitor.submit('/sign-in', { email: victim.email, password })
    await visitor.get('/sign-in/second-step')
    await signIn(visitor, thief.authenticator)
    expect(await addressOf(visitor)).toBe(thief.email)
    await visitor.get('/sign-in/second-step')
    const wrong = await visitor.submit('/sign-in/second-step', { code: '000000' })
    expect(wrong.statusCode).not.toBe(200)
    expect(await addressOf(visitor)).not.toBe(victim.email)
  })

  it('proves nothing, also when the session named the user of the passkey before', async () => {
    const [victim, thief] = [await createPerson(), await createPerson()]
    clock.advance(15 * minute)
    for (const userHandle of [undefined, handleOf(victim.id), handleOf(thief.id)]) {
      await victim.visitor.get(`${confirm}?next=${page}`)
      const challenge = await askForUse(victim.visitor)
      const credential = thief.authenticator.get(challenge, userHandle === undefined ? {} : { userHandle })
      const answer = await victim.visitor.submit(`${confirm}/passkey`, { credential, next: page })
      expect(answer.statusCode, userHandle).toBe(400)
      expect((await victim.visitor.get(page)).statusCode).toBe(303)
    }
    // Nor does it by a refused attempt count as used.
    expect(await listPasskeys(thief.email)).toMatchObject([{ sign_count: '0' }])
  })

  it('is not registered a second time, by its id, and stays with its owner', async () => {
    const victim = await createPerson()
    const thiefEmail = randomEmail()
    const thief = await signUp(website, { email: thiefEmail })
    const sameId = createAuthenticator({ origin, id: victim.authenticator.id })
    for (const authenticator of [sameId, victim.authenticator]) {
      const { answer } = await addPasskey(thief, authenticator)
      expect(answer.statusCode).toBe(400)
      expect(answer.body).toContain('The passkey could not be verified.')
    }
    expect(await listPasskeys(thiefEmail)).toEqual([])
    const visitor = await openSignIn()
    expect((await signIn(visitor, sameId)).statusCode).toBe(400)
    await signIn(visitor, victim.authenticator)
    expect(await addressOf(visitor)).toBe(victim.email)
  })
})

describe('a passkey whose owner may not come in', () => {
  it('signs nobody in after the account was deleted, and not while it is being deleted', async () => {
    const person = await createPerson()
    await person.visitor.get('/settings/security/leaving')
    await person.visitor.submit('/settings/security/leaving/delete', { confirmEmail: person.email })
    const visitor = await openSignIn()
    const refused = await signIn(visitor, person.authenticator)
    expect(refused.body).toContain(errors.accountLeaving.message)
    expect(await addressOf(visitor)).toBeUndefined()

    const challenge = await askForUse(visitor)
    await website.services.accounts.delete(person.id, { withWorkspaces: false })
    await visitor.get('/sign-in')
    const gone = await sendUse(visitor, person.authenticator.get(challenge))
    expect(gone.statusCode).toBe(400)
    expect(gone.body).toContain('The passkey could not be verified.')
    expect(await addressOf(visitor)).toBeUndefined()
  })

  it('signs nobody in, and proves nothing, when it was removed between challenge and answer', async () => {
    const { email, visitor, authenticator } = await createPerson()
    const thief = await openSignIn()
    const challenge = await askForUse(thief)
    clock.advance(14 * minute)
    await visitor.get(`${confirm}?next=${page}`)
    await db.execute(sql`delete from passkeys where user_id = (select id from users where email = ${email})`)
    expect((await sendUse(thief, authenticator.get(challenge))).statusCode).toBe(400)
    clock.advance(2 * minute)
    await visitor.get(`${confirm}?next=${page}`)
    const credential = authenticator.get(await askForUse(visitor))
    const answer = await visitor.submit(`${confirm}/passkey`, { credential, next: page })
    expect(answer.statusCode).toBe(400)
  })

  it('is not added once the session has ended that asked for it', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    const options = await askForCreation(visitor)
    await website.services.credentials.signOutEverywhere(
      String((await selectRows<{ id: string }>(db, sql`select id from users where email = ${email}`))[0]?.id),
    )
    const credential = createAuthenticator({ origin }).create(options)
    const answer = await visitor.post(page, { name: 'Phone', credential })
    expect([303, 403]).toContain(answer.statusCode)
    expect(await listPasskeys(email)).toEqual([])
  })
})

describe('the sign-up of an invited person', () => {
  async function invite() {
    const email = randomEmail()
    const payload = { email, role: 'member' }
    await as(company.owner, { method: 'POST', url: `${company.url}/invites`, payload })
    const { path } = await website.waitForMail(email, /invited you/)
    return { email, path }
  }

  const accountsOf = (email: string) =>
    selectRows<{ id: string }>(db, sql`select id from users where email = ${email}`)

  async function begin(path: string) {
    const visitor = createVisitor(website)
    await visitor.get(path)
    const options = (await visitor.post(`${path}/passkey/options`)).json<
      Challenge & { user: { id: string } }
    >()
    return { visitor, options, ticket: String(visitor.cookies.get('passkey')) }
  }

  it('takes no challenge of somebody who has an account, nor one for a sign-in, nor one of another invite', async () => {
    const victim = await createPerson()
    const { email, path } = await invite()
    const other = await invite()
    const [{ visitor }, elsewhere] = [await begin(path), await begin(other.path)]
    const registration = await askForCreation(victim.visitor)
    const use = await askForUse(visitor)
    const tickets: [string, Challenge][] = [
      [String(victim.visitor.cookies.get('passkey')), registration],
      [String(visitor.cookies.get('passkey')), use],
      ['', use],
    ]
    for (const [ticket, challenge] of tickets) {
      await visitor.get(path)
      visitor.cookies.set('passkey', ticket)
      const credential = createAuthenticator({ origin }).create(challenge)
      const answer = await visitor.submit(`${path}/passkey`, { name: 'Ida', credential })
      expect(answer.statusCode).toBeGreaterThanOrEqual(400)
      expect(await accountsOf(email)).toEqual([])
    }
    expect(await listPasskeys(victim.email)).toHaveLength(1)
    const ids = await selectRows(db, sql`select id from users where email = ${victim.email}`)
    expect(ids).toEqual([{ id: victim.id }])

    // The challenge of the other invite signs up here, if at all, to the address of this invite alone, and once.
    const credential = createAuthenticator({ origin }).create(elsewhere.options)
    await visitor.get(path)
    visitor.cookies.set('passkey', elsewhere.ticket)
    await visitor.submit(`${path}/passkey`, { name: 'Ida', credential })
    await elsewhere.visitor.get(other.path)
    const again = await elsewhere.visitor.submit(`${other.path}/passkey`, { name: 'Eve', credential })
    expect(again.statusCode).toBeGreaterThanOrEqual(400)
    expect(await accountsOf(other.email)).toEqual([])
  })

  it('takes no passkey of somebody else by its id, and leaves no account behind', async () => {
    const victim = await createPerson()
    const { email, path } = await invite()
    const { visitor, options } = await begin(path)
    const credential = createAuthenticator({ origin, id: victim.authenticator.id }).create(options)
    const answer = await visitor.submit(`${path}/passkey`, { name: 'Ida', credential })
    expect(answer.statusCode).toBe(400)
    expect(await accountsOf(email)).toEqual([])
    const owner = await openSignIn()
    await signIn(owner, victim.authenticator)
    expect(await addressOf(owner)).toBe(victim.email)
  })

  it.each(swapped.slice(1))('creates no account when the answer %s', async (_, deviation) => {
    const { email, path } = await invite()
    const { visitor, options } = await begin(path)
    const credential = createAuthenticator({ origin }).create(options, deviation)
    expect((await visitor.submit(`${path}/passkey`, { name: 'Ida', credential })).statusCode).toBe(400)
    expect(await accountsOf(email)).toEqual([])
  })

  it('takes no challenge after five minutes', async () => {
    const { email, path } = await invite()
    const { visitor, options } = await begin(path)
    clock.advance(5 * minute)
    const credential = createAuthenticator({ origin }).create(options)
    expect((await visitor.submit(`${path}/passkey`, { name: 'Ida', credential })).statusCode).toBe(400)
    expect(await accountsOf(email)).toEqual([])
  })
})
