import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, del, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { addEvidence, createSeed, type TestEvidence } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)
const { owner } = company
const seed = await createSeed(service, owner, company)

async function findInList(id: string) {
  const answer = await as(owner, get(`/v1/seeds/${seed.id}/evidence?includeWithdrawn=true`))
  return answer.json<{ id: string }[]>().find((one) => one.id === id)
}

describe('200', () => {
  it('returns to every member the same evidence as the list', async () => {
    const piece = await addEvidence(service, owner, seed)
    expect(await findInList(piece.id)).toEqual(piece)
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const answer = await as(company[role], get(`/v1/evidence/${piece.id}`))
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toEqual(piece)
    }
  })

  it('returns withdrawn evidence, with when and why', async () => {
    const { id } = await addEvidence(service, owner, seed)
    const reason = 'They were paid'
    expect((await as(owner, post(`/v1/evidence/${id}/withdraw`, { reason }))).statusCode).toBe(200)
    const withdrawn = (await as(company.viewer, get(`/v1/evidence/${id}`))).json<TestEvidence>()
    expect(Date.parse(String(withdrawn.withdrawnAt))).toBeGreaterThan(0)
    expect(withdrawn).toMatchObject({ withdrawnByName: 'Olga Owner', withdrawnReason: reason })
    expect(withdrawn).toEqual(await findInList(id))
  })

  it('runs three queries: for the key, for the workspace and for the evidence', async () => {
    const { id } = await addEvidence(service, owner, seed)
    expect(await countQueries(() => as(company.viewer, get(`/v1/evidence/${id}`)))).toBe(3)
  })
})

describe('404', () => {
  it('is the same for an unknown and a malformed id, for evidence of another workspace and of a deleted seed', async () => {
    const { id } = await addEvidence(service, owner, seed)
    const other = await createCompany(service)
    for (const path of [id, createId(), 'x', '%00', "'"])
      expectError(await as(other.owner, get(`/v1/evidence/${path}`)), errors.notFound)
    const own = await createSeed(service, owner, company)
    const piece = await addEvidence(service, owner, own)
    expect((await as(owner, del(`/v1/seeds/${own.id}`))).statusCode).toBe(200)
    expectError(await as(owner, get(`/v1/evidence/${piece.id}`)), errors.notFound)
  })
})
