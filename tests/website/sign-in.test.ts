import { randomEmail } from '../support/company.ts'
import { describe, expect, it } from 'vitest'
import { password, signUp, startWebsite } from './visitor.ts'

const website = await startWebsite()

describe('signing up', () => {
  it('ends signed in, once the address is proven with the password', async () => {
    const email = randomEmail()
    const visitor = await signUp(website, { email })
    expect((await visitor.get('/')).headers.location).toBe('/onboarding')
    await visitor.get('/verify')
    const out = await visitor.submit('/sign-out')
    expect(out.headers.location).toBe('/sign-in?done=signed-out')
    expect((await visitor.get('/')).body).toContain('Sign in')
    await visitor.get('/sign-in')
    const answer = await visitor.submit('/sign-in', { email, password })
    expect(answer.statusCode, answer.body).toBe(303)
  })
})
