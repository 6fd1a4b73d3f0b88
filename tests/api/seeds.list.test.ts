import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get, patch } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service

describe('200', () => {
  it('gives the seeds of the workspace, newest first, to everybody in it', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    expect((await as(company.viewer, get(`${company.url}/seeds`))).body).toBe('[]')
    const first = await createSeed(service, company.member, company, { title: 'First' })
    const second = await createSeed(service, company.admin, company, { title: 'Second' })
    await createSeed(service, other.member, other)
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const answer = await as(company[role], get(`${company.url}/seeds`))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual([second, first])
      expect(answer.headers.link).toBeUndefined()
    }
  })

  it('counts participants, and says whether the caller is one', async () => {
    const company = await createCompany(service)
    const seed = await createSeed(service, company.member, company)
    await joinSeed(service, company.member, seed)
    await joinSeed(service, company.admin, seed)
    const read = async (role: 'member' | 'owner') =>
      (await as(company[role], get(`${company.url}/seeds`))).json<TestSeed[]>()
    expect(await read('member')).toEqual([{ ...seed, participantCount: 2, joined: true }])
    expect(await read('owner')).toEqual([{ ...seed, participantCount: 2, joined: false }])
  })

  it('keeps those of one status', async () => {
    const company = await createCompany(service)
    const ids: Record<string, string> = {}
    for (const status of ['open', 'validating', 'validated', 'dropped']) {
      const { id } = await createSeed(service, company.member, company)
      await as(company.member, patch(`/v1/seeds/${id}`, { status }))
      ids[status] = id
    }
    for (const [status, id] of Object.entries(ids)) {
      const answer = await as(company.viewer, get(`${company.url}/seeds?status=${status}`))
      expect(answer.json<TestSeed[]>().map((seed) => [seed.id, seed.status])).toEqual([[id, status]])
    }
  })

  it('leads through the pages of one status, and binds the cursor to it', async () => {
    const company = await createCompany(service)
    const ids: string[] = []
    for (let i = 0; i < 3; i++) ids.unshift((await createSeed(service, company.member, company)).id)
    const seen: string[] = []
    let url = `${company.url}/seeds?status=open&limit=1`
    for (let i = 0; i < 3; i++) {
      const answer = await as(company.viewer, get(url))
      seen.push(...answer.json<TestSeed[]>().map(({ id }) => id))
      const next = /<([^>]+)>/.exec(String(answer.headers.link))?.[1]
      expect(next === undefined).toBe(i === 2)
      if (next === undefined) break
      const { pathname, search } = new URL(next)
      url = pathname + search
      const moved = url.replace('status=open', 'status=dropped')
      expectError(await as(company.viewer, get(moved)), errors.cursorInvalid, { field: 'cursor' })
    }
    expect(seen).toEqual(ids)
  })

  it('asks as often for many as for one', async () => {
    const company = await createCompany(service)
    await createSeed(service, company.member, company)
    const count = () => countQueries(() => as(company.member, get(`${company.url}/seeds`)))
    await count()
    const one = await count()
    for (let i = 0; i < 10; i++) await createSeed(service, company.member, company)
    expect(await count()).toBe(one)
  })
})

describe('400', () => {
  it('refuses a status that there is not', async () => {
    const company = await createCompany(service)
    for (const status of ['closed', '', 'OPEN', 'open,dropped']) {
      const answer = await as(company.viewer, get(`${company.url}/seeds?status=${status}`))
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toEqual([{ _tag: 'Type', path: ['status'] }])
    }
  })
})

describe('403 and 404', () => {
  it('is for members of a workspace that there is', async () => {
    const company = await createCompany(service)
    const stranger = await service.createPerson()
    expectError(await as(stranger, get(`${company.url}/seeds`)), errors.notAMember)
    expectError(await as(stranger, get('/v1/workspaces/no-such-workspace/seeds')), errors.notFound)
  })
})
