import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, del, get, patch } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { createEmptySeed, createSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const none = { open: 0, validating: 0, validated: 0, dropped: 0 }

describe('200', () => {
  it('counts what a list with the same filters has, by status', async () => {
    const company = await createCompany(service)
    const other = await createCompany(service)
    await createSeed(service, other.member, other)
    const count = async (query = '', person: TestPerson = company.member) => {
      const answer = await as(person, get(`${company.url}/seeds/count?${query}`))
      expect(answer.statusCode, answer.body).toBe(200)
      const listed = await as(person, get(`${company.url}/seeds?${query}`))
      const counted = answer.json<{ count: number; byStatus: Record<string, number> }>()
      expect(counted.count, query).toBe(listed.json<TestSeed[]>().length)
      return counted
    }
    expect(await count()).toEqual({ count: 0, byStatus: none })
    const first = await createEmptySeed(service, company.member, company, { title: 'Bicycles for nurses' })
    const second = await createEmptySeed(service, company.owner, company, { title: 'Shared bicycles' })
    const third = await createEmptySeed(service, company.owner, company, { title: 'Quiet rooms' })
    await as(company.member, patch(`/v1/seeds/${first.id}`, { status: 'validating' }))
    await joinSeed(service, company.member, second)
    expect(await count()).toEqual({ count: 3, byStatus: { ...none, open: 2, validating: 1 } })
    expect(await count('status=open')).toEqual({ count: 2, byStatus: { ...none, open: 2 } })
    expect(await count('status=open&status=validating')).toMatchObject({ count: 3 })
    expect(await count('q=BICY')).toEqual({ count: 2, byStatus: { ...none, open: 1, validating: 1 } })
    expect(await count('q=parking')).toEqual({ count: 0, byStatus: none })
    expect(await count('joined=true')).toMatchObject({ count: 1 })
    expect(await count('joined=false')).toMatchObject({ count: 2 })
    expect(await count(`createdByUserId=${company.owner.id}`)).toMatchObject({ count: 2 })
    expect(await count('createdByUserId=x')).toMatchObject({ count: 0 })
    expect(await count(`ids=${first.id},${createId()}`)).toMatchObject({ count: 1 })
    await as(company.owner, del(`/v1/seeds/${third.id}`))
    expect(await count()).toMatchObject({ count: 2 })
    expect(await count('deleted=true', company.owner)).toMatchObject({ count: 1 })
    expect(await count('deleted=true&q=quiet', company.owner)).toMatchObject({ count: 1 })
    expect(await count('deleted=true')).toMatchObject({ count: 0 })
  })

  it('takes one statement after the one for access', async () => {
    const company = await createCompany(service)
    const counted = await countQueries(() => as(company.viewer, get(`${company.url}/seeds/count?q=x`)))
    const listed = await countQueries(() => as(company.viewer, get(`${company.url}/seeds`)))
    expect(counted).toBe(listed)
  })
})

describe('400', () => {
  it('refuses what the list refuses', async () => {
    const company = await createCompany(service)
    const ids = Array.from({ length: 101 }, () => createId()).join()
    const tooMany = await as(company.viewer, get(`${company.url}/seeds/count?ids=${ids}`))
    expectError(tooMany, errors.idLimit, { field: 'ids' })
    for (const query of ['status=closed', 'sort=createdAt', 'limit=1'])
      expect((await as(company.viewer, get(`${company.url}/seeds/count?${query}`))).statusCode).toBe(400)
  })
})
