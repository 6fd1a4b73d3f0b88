import { describe, expect, it } from 'vitest'
import { repairLink } from '../../src/domain/links.ts'
import { createToken } from '../../src/kernel/tokens.ts'
import { createCompany, post, randomEmail } from '../support/company.ts'
import { createVisitor, startWebsite, type Visitor } from './visitor.ts'
import { expectLinear } from '../support/expect-linear.ts'

const website = await startWebsite()
const company = await createCompany(website)

/** What mail programs and people add to a link. */
const additions = ['.', ')', '>', '%20', '/', '%3E', '.)', ',', '"', '%E2%80%9D']

const linkOf = async (purpose: 'sign_in' | 'reset_password' | 'verify_email') => {
  const { id } = await website.createPerson()
  return new URL((await website.services.credentials.createLink(purpose, id)).url).pathname
}

const kinds: [name: string, link: () => Promise<string>][] = [
  ['an invite', inviteLink],
  ['a sign-in', () => linkOf('sign_in')],
  ['a reset', () => linkOf('reset_password')],
]

async function inviteLink(): Promise<string> {
  const invite = { email: randomEmail(), role: 'member' }
  const answer = await website.as(company.owner, post(`${company.url}/invites`, invite))
  return new URL(answer.json<{ inviteUrl: string }>().inviteUrl).pathname
}

describe.each(kinds)('the link of %s', (_name, createLink) => {
  it('works with what a mail program has added to it', async () => {
    const link = await createLink()
    const plain = await createVisitor(website).get(link)
    expect(plain.statusCode).toBe(200)
    const shown = textOf(plain.body)
    for (const addition of additions) {
      for (const query of ['', '?utm_source=x']) {
        const page = await createVisitor(website).get(`${link}${addition}${query}`)
        expect(page.statusCode, addition).toBe(200)
        expect(textOf(page.body)).toBe(shown)
      }
    }
  })
})

it('a sign-in by a spoiled link signs in', async () => {
  const link = await linkOf('sign_in')
  const visitor: Visitor = createVisitor(website)
  await visitor.get(`${link}.`)
  expect((await visitor.submit(`${link}.`)).statusCode).toBe(303)
})

it('an invite that is unknown stays unknown', async () => {
  expect((await createVisitor(website).get(`/invites/${createToken()}.`)).statusCode).toBe(404)
})

describe('the URL of a request', () => {
  const token = createToken()

  it.each([
    '/invites/',
    '/sign-in/link/',
    '/verify-email/',
    '/reset/',
    '/unsubscribe/',
    '/sign-in/keep-account/',
    '/sign-in/take-back/',
    '/settings/security/email/confirm/',
  ])('loses what is behind the token at %s', (path) => {
    for (const addition of additions) {
      expect(repairLink(`${path}${token}${addition}`)).toBe(`${path}${token}`)
      expect(repairLink(`${path}${token}${addition}?a=b.`)).toBe(`${path}${token}?a=b.`)
    }
    expect(repairLink(`${path}${token}`)).toBe(`${path}${token}`)
  })

  it.each([
    `/invites/${token}/decline`,
    `/v1/invites/${token}.`,
    `/agent/oauth/consent/${token}/`,
    `/pictures/${token}.webp`,
    '/w/acme/seeds/',
    '/',
    '*',
  ])('stays as it is at %s', (url) => {
    expect(repairLink(url)).toBe(url)
  })

  it('is read in time in proportion to its length', async () => {
    for (const part of ['/', 'a', 'a/', '.', '%20', `${token}/`, `${token}.`])
      await expectLinear((length) => repairLink(`/${part.repeat(length / part.length)}x`), 8_000, part)
  })
})

/** The text of a page, without what is another in each answer. */
function textOf(page: string): string {
  return (/<main[^]*<\/main>/.exec(page)?.[0] ?? '').replaceAll(/<[^>]*>/g, '')
}
