import { sql } from 'drizzle-orm'
import { generateSync } from 'otplib'
import { describe, expect, it } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { selectRows } from '../support/test-app.ts'
import { untilWaiting } from '../support/until-waiting.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createVisitor, csrfTokenOf, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const website = await startWebsite({ clock, environment: {} })
const minute = 60_000
const security = '/settings/security'
const keys = `${security}/api-keys`

const isSignedIn = async (visitor: Visitor) => (await visitor.get(security)).statusCode === 200

/** A browser with all cookies of another one. */
function copy(of: Visitor): Visitor {
  const copied = createVisitor(website)
  for (const [name, value] of of.cookies) copied.cookies.set(name, value)
  return copied
}

/** Somebody whose sign-in was some time ago, and who has copied their cookies. */
async function startTheft() {
  const email = randomEmail()
  const owner = await signUp(website, { email })
  clock.advance(20 * minute)
  const thief = copy(owner)
  expect(await isSignedIn(thief)).toBe(true)
  return { email, owner, thief }
}

async function prove(owner: Visitor) {
  await owner.get(`${security}/confirm?next=${keys}`)
  return owner.post(`${security}/confirm/password`, { password, next: keys })
}

const secretOn = (page: string) =>
  (/id="secret"[^>]*value="([A-Z2-7 ]+)"/.exec(page)?.[1] ?? '').replaceAll(' ', '')
const codeOf = (secret: string) => generateSync({ secret, epoch: Math.floor(clock.now().getTime() / 1000) })

/** What people do about an intruder, or to be safer. Each leaves them signed in. */
const acts: [what: string, act: (owner: Visitor) => Promise<unknown>][] = [
  ['confirms that it is them', prove],
  [
    'changes the password',
    async (owner) => {
      await owner.get(`${security}/password`)
      return owner.submit(`${security}/password`, {
        currentPassword: password,
        password: 'a new and long password',
      })
    },
  ],
  [
    'signs out on all other devices',
    async (owner) => {
      await owner.get(`${security}/sessions`)
      return owner.submit(`${security}/sessions/end-others`)
    },
  ],
]

describe('a copy of the cookies of a session', () => {
  it.each(acts)('ends when its owner %s, who stays signed in', async (_what, act) => {
    const { owner, thief } = await startTheft()
    await act(owner)
    expect(await isSignedIn(owner)).toBe(true)
    expect(await isSignedIn(thief)).toBe(false)
    // Nor does half of the new cookies do.
    thief.cookies.set('session', String(owner.cookies.get('session')))
    expect(await isSignedIn(thief)).toBe(false)
    thief.cookies.set('session-renewal', 'A'.repeat(43))
    expect(await isSignedIn(thief)).toBe(false)
  })

  it('ends at each change of the second step', async () => {
    const { owner } = await startTheft()
    await prove(owner)
    const page = `${security}/two-step`
    let thief = copy(owner)
    const expectEnded = async () => {
      expect(await isSignedIn(thief)).toBe(false)
      expect(await isSignedIn(owner)).toBe(true)
      thief = copy(owner)
      expect(await isSignedIn(thief)).toBe(true)
    }
    await owner.get(page)
    await owner.submit(`${page}/begin`)
    await owner.get(page)
    const secret = secretOn(owner.page())
    thief = copy(owner)
    await owner.submit(`${page}/confirm`, { code: codeOf(secret) })
    await expectEnded()
    await owner.get(page)
    await owner.submit(`${page}/recovery-codes`)
    await expectEnded()
    clock.advance(20 * minute)
    await owner.get(`${security}/confirm?next=${page}`)
    await owner.post(`${security}/confirm/code`, { code: codeOf(secret), next: page })
    await expectEnded()
    await owner.get(page)
    await owner.submit(`${page}/remove`)
    await expectEnded()
  })

  it('does not share in the proof of its owner', async () => {
    const { owner, thief } = await startTheft()
    const asked = await thief.post(keys, { name: 'Mine' })
    expect(asked.headers.location).toContain(`${security}/confirm`)
    await prove(owner)
    await thief.get(keys)
    const again = await thief.post(keys, { name: 'Mine' })
    expect(String(again.headers.location)).toMatch(/^\/sign-in/)
    const names = await selectRows(website.db, sql`select 1 from api_keys where name = 'Mine'`)
    expect(names).toEqual([])
  })

  it('cannot sign its owner out once it has ended', async () => {
    const { owner, thief } = await startTheft()
    await prove(owner)
    await thief.get('/sign-in')
    expect((await thief.post('/sign-out')).statusCode).toBe(303)
    expect(await isSignedIn(owner)).toBe(true)
  })
})

describe('a renewed session', () => {
  it('accepts the forms of its pages that were open before', async () => {
    const { owner } = await startTheft()
    const open = csrfTokenOf((await owner.get('/settings/profile')).body)
    await prove(owner)
    const saved = await owner.post('/settings/profile', { name: 'Grace', _csrf: open })
    expect(saved.headers.location).toContain('flash=')
  })

  it('stays through a proof that is sent twice at once', async () => {
    const { owner } = await startTheft()
    await owner.get(`${security}/confirm?next=${keys}`)
    const submit = () => owner.post(`${security}/confirm/password`, { password, next: keys })
    let sent: Promise<Awaited<ReturnType<typeof submit>>[]> | undefined
    await website.db.transaction(async (tx) => {
      await tx.execute(sql`select from sessions order by created_at desc limit 1 for update`)
      sent = Promise.all([submit(), submit()])
      // Both have read the session.
      await untilWaiting(website, 2)
    })
    const twice = (await sent) ?? []
    const renewals = twice.map(({ cookies }) => cookies.find(({ name }) => name === 'session-renewal')?.value)
    expect(twice.map(({ headers }) => headers.location)).toEqual([keys, keys])
    // The response to the later one has the cookie that counts.
    const works = renewals.map(async (renewal) => {
      const browser = copy(owner)
      browser.cookies.set('session-renewal', String(renewal))
      return isSignedIn(browser)
    })
    expect(await Promise.all(works)).toContain(true)
  })

  it('keeps both cookies when it is extended, and a new session begins without the second one', async () => {
    const { email, owner } = await startTheft()
    await prove(owner)
    clock.advance(2 * 60 * minute)
    const extended = await owner.get(security)
    const names = extended.cookies.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['session', 'session-renewal']))
    expect(await isSignedIn(owner)).toBe(true)
    await owner.submit('/sign-out')
    expect(owner.cookies.has('session-renewal')).toBe(false)
    await owner.get('/sign-in')
    await owner.submit('/sign-in', { email, password })
    expect(await isSignedIn(owner)).toBe(true)
  })
})
