import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, post } from '../support/company.ts'
import { expectError, issuesOf } from '../support/expect-error.ts'
import { addEvidence, createSeed, joinSeed, type TestEvidence } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createId } from '../../src/kernel/ids.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)

describe('200', () => {
  it('returns the evidence of the seed to every member, newest first', async () => {
    const [seed, other] = [
      await createSeed(service, company.member, company),
      await createSeed(service, company.member, company),
    ]
    for (const { id } of [seed, other]) await joinSeed(service, company.member, { id })
    expect((await as(company.viewer, get(`/v1/seeds/${seed.id}/evidence`))).body).toBe('[]')
    const first = await addEvidence(service, company.member, seed)
    const second = await addEvidence(service, company.member, seed)
    await addEvidence(service, company.member, other)
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const answer = await as(company[role], get(`/v1/seeds/${seed.id}/evidence`))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual([second, first])
    }
  })

  it('returns each piece of evidence once over all pages, sorted as asked', async () => {
    const seed = await createSeed(service, company.member, company)
    await joinSeed(service, company.member, seed)
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await addEvidence(service, company.member, seed)).id)
    const readAll = async (query: string) => {
      const seen: string[] = []
      let url: string | undefined = `/v1/seeds/${seed.id}/evidence?limit=2${query}`
      while (url !== undefined) {
        const answer = await as(company.viewer, get(url))
        seen.push(...answer.json<TestEvidence[]>().map(({ id }) => id))
        const next: string | undefined = /<([^>]+)>; rel="next"/.exec(String(answer.headers.link))?.[1]
        url = next === undefined ? undefined : new URL(next).pathname + new URL(next).search
      }
      return seen
    }
    expect(await readAll('')).toEqual(ids)
    expect(await readAll('&sort=-createdAt')).toEqual(ids)
    expect(await readAll('&sort=createdAt')).toEqual(ids.toReversed())
    expect(await readAll('&sort=createdAt&by=people')).toEqual(ids.toReversed())
    expect(await readAll('&sort=createdAt&by=agents')).toEqual([])
    const withdrawn = await as(company.member, post(`/v1/evidence/${ids[0]}/withdraw`))
    expect(withdrawn.statusCode, withdrawn.body).toBe(200)
    expect(await readAll('&sort=createdAt')).toEqual(ids.slice(1).toReversed())
    expect(await readAll('&sort=createdAt&includeWithdrawn=true')).toEqual(ids.toReversed())
  })
})

describe('400', () => {
  it('returns 400 for an unknown parameter, and for a cursor of another seed', async () => {
    const seeds = [
      await createSeed(service, company.member, company),
      await createSeed(service, company.member, company),
    ] as const
    for (const seed of seeds) {
      await joinSeed(service, company.member, seed)
      for (let i = 0; i < 2; i++) await addEvidence(service, company.member, seed)
    }
    const [seed, other] = seeds
    const unknown = await as(company.viewer, get(`/v1/seeds/${seed.id}/evidence?verdict=neutral`))
    expect(issuesOf(unknown)).toEqual([{ _tag: 'Unexpected', path: ['verdict'] }])
    const { headers } = await as(company.viewer, get(`/v1/seeds/${other.id}/evidence?limit=1`))
    const cursor = new URL(String(/<([^>]+)>/.exec(String(headers.link))?.[1])).searchParams.get('cursor')
    const answer = await as(company.viewer, get(`/v1/seeds/${seed.id}/evidence?cursor=${cursor}`))
    expectError(answer, errors.cursorInvalid, { field: 'cursor' })
  })
})

describe('404', () => {
  it('returns the same 404 for a seed of another workspace, an unknown id and a malformed id', async () => {
    const { id } = await createSeed(service, company.member, company)
    const { owner } = await createCompany(service)
    for (const path of [id, createId(), 'x']) {
      expectError(await as(owner, get(`/v1/seeds/${path}/evidence`)), errors.notFound)
    }
  })
})
