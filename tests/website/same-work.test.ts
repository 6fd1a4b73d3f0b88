import argon2 from 'argon2'
import { describe, expect, it, vi } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { recordStatements } from '../support/record-statements.ts'
import { startTestApp } from '../support/test-app.ts'
import { createVisitor, password } from './visitor.ts'

// Without jobs: what is done after the answer is nothing that a stranger can time.
const website = await startTestApp({
  environment: { SIGN_IN_LIMIT_PER_MINUTE: '0', MAIL_LIMIT_PER_HOUR: '0' },
})
const { services } = website

/** Addresses that differ in whether anybody has them, and how. */
const addresses: Record<string, () => Promise<string>> = {
  nobody: async () => randomEmail(),
  'somebody who has not proven it': async () => {
    const email = randomEmail()
    await services.credentials.signUp({ name: 'Grace', email, password })
    return email
  },
  'somebody with a password': async () => {
    const email = randomEmail()
    await services.credentials.signUp({ name: 'Grace', email, password })
    const user = await services.accounts.findByEmail(email)
    await services.accounts.verify(String(user?.id))
    return email
  },
  'somebody without a password': async () => {
    const email = randomEmail()
    await services.accounts.create({ name: 'Grace', email, isVerified: true })
    return email
  },
}

/** The forms in which a stranger names an address, with what else is in them. */
const forms: [path: string, fields: Record<string, string>][] = [
  ['/sign-up', { name: 'Eve', password: 'a password of a stranger' }],
  ['/sign-in', { password: 'not the password' }],
  ['/forgot', {}],
  ['/verify', {}],
  ['/sign-in/link', {}],
]

/** What a form makes the service do: its statements, in order, and how often it hashes. */
async function workOf(path: string, fields: Record<string, string>, email: string) {
  const visitor = createVisitor(website)
  await visitor.get(path)
  const spies = [vi.spyOn(argon2, 'hash'), vi.spyOn(argon2, 'verify')]
  try {
    const { texts } = await recordStatements(() => visitor.submit(path, { ...fields, email }))
    return { texts, hashes: spies.map((spy) => spy.mock.calls.length) }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

describe.each(forms)('%s does the same work', (path, fields) => {
  it('whoever has the address', async () => {
    const works: unknown[] = []
    for (const create of Object.values(addresses)) works.push(await workOf(path, fields, await create()))
    const [first, ...others] = works as Awaited<ReturnType<typeof workOf>>[]
    expect(first?.texts.length).toBeGreaterThan(0)
    const isAboutPasswords = path === '/sign-up' || path === '/sign-in'
    expect(first?.hashes.reduce((sum, count) => sum + count)).toBe(isAboutPasswords ? 1 : 0)
    for (const other of others) expect(other).toEqual(first)
  })
})
