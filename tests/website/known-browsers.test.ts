import { describe, expect, it } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { createVisitor, password, signUp, startWebsite, type Visitor } from './visitor.ts'

// With the limits that are set by default.
const website = await startWebsite({
  environment: { SIGN_IN_LIMIT_PER_MINUTE: '10', MAIL_LIMIT_PER_HOUR: '5', TRUST_PROXY: 'loopback' },
})

const addresses = Array.from({ length: 11 }, (_, i) => `192.0.2.${i + 1}`)
const ownAddress = '198.51.100.1'

/** Sends a form from a client address, as a visitor who has no cookie yet or as one who has. */
async function send(path: string, fields: Record<string, string>, address: string, visitor?: Visitor) {
  const sender = visitor ?? createVisitor(website)
  await sender.get(path)
  return sender.submit(path, fields, { 'x-forwarded-for': address })
}

/** An account, and a browser that has signed in to it and out again. */
async function createOwner() {
  const email = randomEmail()
  const browser = await signUp(website, { email })
  await browser.get('/onboarding')
  await browser.submit('/sign-out')
  return { email, browser }
}

const signIn = async (email: string, chosen: string, address: string, visitor?: Visitor) =>
  (await send('/sign-in', { email, password: chosen }, address, visitor)).statusCode

describe('while others guess the password of an account', () => {
  it('a browser that has signed in to the account before can still sign in, also from a client address of the others', async () => {
    const { email, browser } = await createOwner()
    const guesses = await Promise.all(
      addresses.map(async (address) => {
        const answers = []
        for (let i = 0; i < 10; i++) answers.push(await signIn(email, `wrong ${i}`, address))
        return answers
      }),
    )
    expect(guesses.flat().filter((status) => status === 400)).toHaveLength(100)
    expect(await signIn(email, password, ownAddress)).toBe(429)
    expect(await signIn(email, password, ownAddress, browser)).toBe(303)
    await browser.get('/onboarding')
    await browser.submit('/sign-out')
    expect(await signIn(email, password, String(addresses[0]), browser)).toBe(303)
  })

  it('a browser that has signed in before has ten attempts a minute, for this account only', async () => {
    const { email, browser } = await createOwner()
    const other = await createOwner()
    for (let i = 0; i < 10; i++) expect(await signIn(email, 'wrong', `203.0.113.${i}`, browser)).toBe(400)
    expect(await signIn(email, password, '203.0.113.200', browser)).toBe(429)
    expect(await signIn(email, password, '203.0.113.200')).toBe(303)
    for (let i = 0; i < 10; i++) expect(await signIn(other.email, 'wrong', '203.0.113.201')).toBe(400)
    // It is unknown to the other account.
    expect(await signIn(other.email, password, '203.0.113.201', browser)).toBe(429)
  })
})

describe('while others request emails to an account', () => {
  const request = async (email: string, address: string, visitor?: Visitor) =>
    (await send('/sign-in/link', { email }, address, visitor)).statusCode

  it('each client address can request five emails, and all together 20', async () => {
    const email = randomEmail()
    const statuses: number[] = []
    for (const address of addresses.slice(0, 5))
      for (let i = 0; i < 6; i++) statuses.push(await request(email, address))
    const row = [200, 200, 200, 200, 200, 429]
    expect(statuses).toEqual([...row, ...row, ...row, ...row, 429, 429, 429, 429, 429, 429])
  })

  it('a browser that has signed in before can still request five emails', async () => {
    const { email, browser } = await createOwner()
    for (const address of addresses.slice(0, 5)) for (let i = 0; i < 5; i++) await request(email, address)
    expect(await request(email, ownAddress)).toBe(429)
    for (let i = 0; i < 5; i++) expect(await request(email, ownAddress, browser)).toBe(200)
    expect(await request(email, ownAddress, browser)).toBe(429)
    expect(await website.waitForMail(email, /sign-in link/)).toBeDefined()
  })
})
