import { generateSync } from 'otplib'
import { describe, expect, it } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { makeFolder } from '../support/uploads.ts'
import { createVisitor, password, signUp, startWebsite, type Visitor } from './visitor.ts'

const clock = createTestClock()
const environment = {
  APP_SECRET: 'a secret of the installation, of at least 32 characters',
  // The default.
  SIGN_IN_LIMIT_PER_MINUTE: '10',
  TRUST_PROXY: 'loopback',
}
const website = await startWebsite({ clock, environment })

const page = '/settings/security/two-step'
const secondStep = '/sign-in/second-step'
const ownAddress = '198.51.100.1'
const from = (address: string) => ({ 'x-forwarded-for': address })
let rounds = 0

/** The code that the authenticator app shows next; the clock moves on, since each counts once. */
function nextCode(secret: string): string {
  clock.advance(60_000)
  return generateSync({ secret, epoch: Math.floor(clock.now().getTime() / 1000) })
}

type Service = Pick<TestApp, 'app'>

async function createOwner() {
  const email = randomEmail()
  const browser = await signUp(website, { email })
  await browser.get(page)
  await browser.submit(`${page}/begin`)
  await browser.get(page)
  const secret = (/id="secret"[^>]*value="([A-Z2-7 ]+)"/.exec(browser.page())?.[1] ?? '').replaceAll(' ', '')
  const shown = await browser.submit(`${page}/confirm`, { code: nextCode(secret) })
  const codes = shown.body.match(/\b(?:[a-z2-9]{4}-){3}[a-z2-9]{4}\b/g) ?? []
  expect(codes).toHaveLength(10)
  return { email, browser, secret, codes }
}

/** Enters the password, and stands before the second step. */
async function enterPassword(service: Service, email: string, address: string, chosen = password) {
  const visitor = createVisitor(service)
  await signInAgain(visitor, email, address, chosen)
  return visitor
}

async function signInAgain(visitor: Visitor, email: string, address: string, chosen = password) {
  await visitor.get('/sign-in')
  const answer = await visitor.submit('/sign-in', { email, password: chosen }, from(address))
  expect(answer.headers.location).toBe(secondStep)
  await visitor.get(secondStep)
}

const enter = async (visitor: Visitor, code: string, address: string) =>
  (await visitor.submit(secondStep, { code }, from(address))).statusCode

/** Somebody who knows the password enters a hundred wrong codes, ten from each of ten addresses, which is all that these may. */
async function guess(service: Service, email: string, wrong = '000000', chosen = password): Promise<number> {
  rounds += 1
  const strangers = Array.from({ length: 10 }, (_, i) => `192.0.${rounds}.${i}`)
  const guessFrom = async (address: string) => {
    let count = 0
    for (let sign = 0; sign < 2; sign++) {
      const visitor = await enterPassword(service, email, address, chosen)
      // A sign-in ends after five of them.
      for (let i = 0; i < 5; i++) if ((await enter(visitor, wrong, address)) !== 429) count += 1
    }
    return count
  }
  // Not all at once: on a busy machine, sign-ins that wait too long for the check of their password are refused.
  const counts = []
  while (strangers.length > 0) counts.push(...(await Promise.all(strangers.splice(0, 4).map(guessFrom))))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function signOut(visitor: Visitor) {
  await visitor.get('/onboarding')
  await visitor.submit('/sign-out')
}

async function reset(service: Service, email: string, chosen: string) {
  const visitor = createVisitor(service)
  await visitor.get('/forgot')
  await visitor.submit('/forgot', { email })
  const { path } = await website.waitForMail(email, /Choose a new password/)
  await visitor.get(path)
  const done = await visitor.submit(path, { password: chosen })
  expect(done.headers.location).toBe('/sign-in?done=password-set')
}

describe('while somebody who knows the password guesses codes', () => {
  it('a browser that has signed in before takes the right code', async () => {
    const { email, browser, secret } = await createOwner()
    await signOut(browser)
    expect(await guess(website, email)).toBe(100)
    expect(await enter(await enterPassword(website, email, ownAddress), nextCode(secret), ownAddress)).toBe(
      429,
    )
    await signInAgain(browser, email, ownAddress)
    expect(await enter(browser, nextCode(secret), ownAddress)).toBe(303)
  })

  it('an open session takes the right code as a proof', async () => {
    const { email, browser, secret } = await createOwner()
    await guess(website, email)
    const confirm = '/settings/security/confirm'
    clock.advance(16 * 60_000)
    await browser.get(confirm)
    const answer = await browser.submit(`${confirm}/code`, { code: nextCode(secret) }, from(ownAddress))
    expect(answer.headers.location).toBe('/settings/security')
  })

  it('a recovery code is taken in any browser', async () => {
    const { email, codes } = await createOwner()
    await guess(website, email)
    expect(await enter(await enterPassword(website, email, ownAddress), String(codes[0]), ownAddress)).toBe(
      303,
    )
  })

  it('a new password by mail lets the owner enter codes again in any browser, three times in a day', async () => {
    const { email, secret } = await createOwner()
    let current = password
    for (const expected of [303, 303, 303, 429]) {
      expect(await guess(website, email, '000000', current)).toBe(100)
      current = `${password} ${secret} ${clock.now().getTime()}`
      await reset(website, email, current)
      const visitor = await enterPassword(website, email, ownAddress, current)
      expect(await enter(visitor, nextCode(secret), ownAddress)).toBe(expected)
      if (expected === 303) await signOut(visitor)
    }
  })
})

describe('guessing', () => {
  it('with the cookie of a known browser ends after ten codes, and leaves other browsers alone', async () => {
    const { email, browser, secret } = await createOwner()
    await signOut(browser)
    const statuses: number[] = []
    for (let sign = 0; sign < 3; sign++) {
      await signInAgain(browser, email, ownAddress)
      for (let i = 0; i < 5; i++) statuses.push(await enter(browser, '000000', `203.0.113.${sign}${i}`))
    }
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
    expect(await enter(await enterPassword(website, email, ownAddress), nextCode(secret), ownAddress)).toBe(
      303,
    )
  })

  it('recovery codes ends for the address after a hundred, over all accounts', async () => {
    const [one, other] = [await createOwner(), await createOwner()]
    const address = '203.0.113.200'
    const statuses: number[] = []
    for (let sign = 0; sign < 21; sign++) {
      // From other addresses: the attempt to enter the password is not what is counted here.
      const visitor = await enterPassword(website, sign % 2 ? one.email : other.email, ownAddress)
      for (let i = 0; i < 5; i++) statuses.push(await enter(visitor, 'aaaa-bbbb-cccc-dddd', address))
    }
    expect(statuses.map((status) => status === 429)).toEqual([
      ...Array.from({ length: 100 }, () => false),
      ...Array.from({ length: 5 }, () => true),
    ])
    const visitor = await enterPassword(website, one.email, ownAddress)
    expect(await enter(visitor, String(one.codes[0]), ownAddress)).toBe(303)
  })
})

describe.skipIf(!hasRedisServer)('with Redis', () => {
  it('a new password by mail clears the counter for all replicas', async () => {
    const redis = await startRedisServer()
    const limits = { MAIL_LIMIT_PER_HOUR: '0', DATA_DIR: await makeFolder() }
    // The jobs of the other send the mails.
    const replica = await startTestApp({
      clock,
      environment: { ...environment, ...limits, REDIS_URL: redis.url },
    })
    await eventually(() => expect(replica.services.redis?.status).toBe('ready'))
    const { email, secret } = await createOwner()
    expect(await guess(replica, email)).toBe(100)
    const chosen = `${password} anew`
    await reset(replica, email, chosen)
    const keys = await replica.services.redis?.keys('rate-limit:code-account:*')
    expect(keys).toEqual([])
    const visitor = await enterPassword(replica, email, ownAddress, chosen)
    expect(await enter(visitor, nextCode(secret), ownAddress)).toBe(303)
    await redis.kill()
  })
})
