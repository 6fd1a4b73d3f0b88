import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { addPerson, createCompany, createInvite, get } from '../support/company.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { addEvidence, createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const company = await createCompany(service)
const { owner, url, workspace } = company

async function titlesOf(q: string, match: string, { person = owner, query = '' } = {}): Promise<string[]> {
  const answer = await service.as(
    person,
    get(`${url}/search?q=${encodeURIComponent(q)}&match=${match}${query}`),
  )
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ title: string }[]>().map(({ title }) => title)
}

describe('200', async () => {
  const rows: [title: string, q: string][] = [
    ['Sending an invoice', 'invoices'],
    ['Two boxes', 'box'],
    ['A category', 'categories'],
    ['Many libraries', 'library'],
    ['مرحبا بالعالم', 'العالم'],
    ['مرحبا بالعالم', 'عالم'],
    ['iPhone 15 cases', 'iphone15'],
    ['Onboarding', 'board'],
    ['Onboarding', 'onbaording'],
    ['Onboarding', 'onbording'],
    ['Onboarding', 'onboardding'],
  ]
  for (const title of new Set(rows.map(([text]) => text)))
    await createSeed(service, owner, company, { title })

  it.each(rows)('%s is similar to %s, and matches only once', async (title, q) => {
    const [exact, similar] = [await titlesOf(q, 'exact'), await titlesOf(q, 'similar')]
    expect([...exact, ...similar].filter((found) => found === title)).toEqual([title])
    // The beginning of a word matches exactly.
    expect(exact.includes(title)).toBe(q === 'box')
  })

  it('keeps what is in quotes, and what is not similar', async () => {
    for (const q of ['"an sending"', '"invoices"', 'receipt', 'invoices receipts', '%', '""'])
      expect(await titlesOf(q, 'similar'), q).toEqual([])
    expect(await titlesOf('"sending an" invoices', 'similar')).toEqual(['Sending an invoice'])
  })

  it('finds another number in texts, and reads all pages', async () => {
    const seed = await createSeed(service, owner, company, { title: 'A seed' })
    for (let i = 0; i < 3; i++) await addEvidence(service, owner, seed, { summary: `A walrus, ${i}` })
    expect(await titlesOf('walruses', 'exact')).toEqual([])
    const first = await service.as(owner, get(`${url}/search?q=walruses&match=similar&limit=2`))
    expect(first.json()).toHaveLength(2)
    const next = /<([^>]+)>/.exec(String(first.headers.link))?.[1] ?? ''
    const { pathname, search } = new URL(next)
    expect((await service.as(owner, get(pathname + search))).json()).toHaveLength(1)
    const other = search.replace('match=similar', 'match=exact')
    expectError(await service.as(owner, get(pathname + other)), errors.cursorInvalid, { field: 'cursor' })
  })

  it('finds people by the middle of their names, and the invited for nobody', async () => {
    await addPerson(service, workspace, 'viewer', 'Grace Hopper')
    await createInvite(service, owner, company, { email: 'hopper-invited@example.com' })
    for (const person of [owner, company.admin, company.member, company.viewer]) {
      expect(await titlesOf('hopper', 'exact', { person })).toEqual(['Grace Hopper'])
      for (const q of ['opper', 'hoper', 'hoppper'])
        expect(await titlesOf(q, 'similar', { person }), q).toEqual(['Grace Hopper'])
      for (const q of ['invited', 'nvited', 'hopper-invited@example.com'])
        for (const match of ['exact', 'similar']) expect(await titlesOf(q, match, { person }), q).toEqual([])
    }
  })
})

describe('400', () => {
  it('returns 400 for another word', async () => {
    expectError(await service.as(owner, get(`${url}/search?q=a&match=all`)), errors.decodeError, {
      issues: anyIssues,
    })
  })
})
