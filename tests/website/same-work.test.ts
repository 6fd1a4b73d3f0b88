import { randomUUID } from 'node:crypto'
import argon2 from 'argon2'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { randomLinkDelay } from '../../src/accounts/sign-in/link-delay.ts'
import { createCompany, randomEmail } from '../support/company.ts'
import { recordStatements } from '../support/record-statements.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { createVisitor, password } from './visitor.ts'

// Without jobs, which run after the answer and so do not affect its time.
const website = await startTestApp({
  linkDelay: randomLinkDelay,
})
const { db, services } = website
const invitedOnly = await startTestApp({
  environment: { SIGN_UP: 'invited' },
  linkDelay: randomLinkDelay,
})
const company = await createCompany(website)

/** Email addresses with and without an account, and with different credentials. */
const addresses: Record<string, () => Promise<string>> = {
  'no account': async () => randomEmail(),
  'an account with an unverified address': async () => {
    const email = randomEmail()
    await services.credentials.signUp({ name: 'Grace', email, password })
    return email
  },
  'an account with a password': async () => {
    const email = randomEmail()
    await services.credentials.signUp({ name: 'Grace', email, password })
    const user = await services.accounts.findByEmail(email)
    await services.accounts.verify(String(user?.id))
    return email
  },
  'an account without a password': async () => {
    const email = randomEmail()
    await services.accounts.create({ name: 'Grace', email, isVerified: true })
    return email
  },
}

/** Addresses that may sign up with SIGN_UP=invited, and have not. */
const expected: Record<string, () => Promise<string>> = {
  'an invited address': async () => {
    const email = randomEmail()
    const payload = { email, role: 'member' }
    await website.as(company.owner, { method: 'POST', url: `${company.url}/invites`, payload })
    return email
  },
  'an address at an allowed domain': async () => {
    const domain = `${randomUUID()}.example`
    await db.execute(
      sql`update workspaces set allowed_domains = array[${domain}] where id = ${company.workspace.id}`,
    )
    return `nora@${domain}`
  },
}

/** The forms for an email address that need no sign-in, with their other fields. */
const forms: [path: string, fields: Record<string, string>][] = [
  ['/sign-up', { name: 'Eve', password: 'a password of a stranger' }],
  ['/sign-in', { password: 'not the password' }],
  ['/forgot', {}],
  ['/verify', {}],
  ['/sign-in/link', {}],
]

/** The work of a form: its statements, in order, and its number of password hashes. */
async function workOf(path: string, fields: Record<string, string>, email: string, service = website) {
  const visitor = createVisitor(service)
  await visitor.get(path)
  const spies = [vi.spyOn(argon2, 'hash'), vi.spyOn(argon2, 'verify')]
  try {
    const { texts } = await recordStatements(() => visitor.submit(path, { ...fields, email }))
    return { texts, hashes: spies.map((spy) => spy.mock.calls.length) }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

describe.each(forms)('the form %s', (path, fields) => {
  it('runs the same statements and password hashes whether or not the address has an account', async () => {
    const works: unknown[] = []
    for (const create of Object.values(addresses)) works.push(await workOf(path, fields, await create()))
    const [first, ...others] = works as Awaited<ReturnType<typeof workOf>>[]
    expect(first?.texts.length).toBeGreaterThan(0)
    const isAboutPasswords = path === '/sign-up' || path === '/sign-in'
    expect(first?.hashes.reduce((sum, count) => sum + count)).toBe(isAboutPasswords ? 1 : 0)
    for (const other of others) expect(other).toEqual(first)
  })
})

it('with SIGN_UP=invited, signing up is the same work for every address, expected or not', async () => {
  const works: unknown[] = []
  for (const create of Object.values({ ...addresses, ...expected })) {
    const fields = { name: 'Eve', password: 'a password of a stranger' }
    works.push(await workOf('/sign-up', fields, await create(), invitedOnly))
  }
  const [first, ...others] = works as Awaited<ReturnType<typeof workOf>>[]
  expect(first?.texts.join()).toContain('allowed_domains')
  expect(first?.hashes).toEqual([1, 0])
  for (const other of others) expect(other).toEqual(first)
})

it('a requested email is sent by a job that starts after a random one to three seconds, whether or not there is an account', async () => {
  const starts: number[] = []
  for (const [path, fields] of forms.filter(([path]) => path !== '/sign-in'))
    for (const create of Object.values(addresses)) {
      const email = await create()
      await db.execute(sql`delete from graphile_worker._private_jobs`)
      await workOf(path, fields, email)
      const jobs = await selectRows<{ seconds: number }>(
        db,
        sql`select extract(epoch from run_at - created_at)::float as seconds from graphile_worker._private_jobs`,
      )
      starts.push(...jobs.map(({ seconds }) => seconds))
    }
  expect(starts).toHaveLength(16)
  for (const seconds of starts) {
    expect(seconds).toBeGreaterThanOrEqual(1)
    expect(seconds).toBeLessThanOrEqual(3)
  }
  expect(new Set(starts).size).toBeGreaterThan(8)
})
