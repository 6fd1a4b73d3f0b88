import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { insertGrant } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)
const { owner, member, workspace } = company
const urlOf = ({ id }: { id: string }) => `${company.url}/integrations/${id}`

describe('200', () => {
  it('returns the same grant as the list, to owners, admins and the person for whom the agent acts', async () => {
    const grant = await insertGrant(service, workspace, member)
    const list = (await as(owner, get(`${company.url}/integrations`))).json<{ id: string }[]>()
    for (const person of [owner, company.admin, member]) {
      const answer = await as(person, get(urlOf(grant)))
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toEqual(grant)
    }
    expect(list).toContainEqual(grant)
  })

  it('runs two queries: one for the key and the workspace, one for the grant', async () => {
    const grant = await insertGrant(service, workspace, owner)
    expect(await countQueries(() => as(owner, get(urlOf(grant))))).toBe(2)
  })
})

describe('404', () => {
  it("is the same for an unknown and a malformed id, another workspace's grant, and another member's", async () => {
    const other = await createCompany(service)
    const { id } = await insertGrant(service, other.workspace, other.owner)
    for (const path of [id, createId(), 'x', '%00', "'"])
      expectError(await as(owner, get(urlOf({ id: path }))), errors.notFound)
    const ofOwner = await insertGrant(service, workspace, owner)
    for (const person of [member, company.viewer])
      expectError(await as(person, get(urlOf(ofOwner))), errors.notFound)
  })

  it('is the answer once the access was revoked or has expired', async () => {
    const revoked = await insertGrant(service, workspace, owner)
    expect((await as(owner, post(`${urlOf(revoked)}/revoke`))).statusCode).toBe(200)
    expectError(await as(owner, get(urlOf(revoked))), errors.notFound)
    const expired = await insertGrant(service, workspace, owner, { lifetimeMs: -1 })
    expectError(await as(owner, get(urlOf(expired))), errors.notFound)
  })
})
