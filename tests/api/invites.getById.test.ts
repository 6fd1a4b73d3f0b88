import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createInvite, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)
const { owner } = company
const urlOf = ({ id }: { id: string }) => `${company.url}/invites/${id}`

async function statusOf(invite: { id: string }) {
  const answer = await as(owner, get(urlOf(invite)))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ status: string }>().status
}

const expire = ({ id }: { id: string }) =>
  service.db.execute(sql`update invites set expires_at = now() - interval '1 second' where id = ${id}`)

describe('200', () => {
  it('returns to owners and admins the same invite as the list', async () => {
    const { id } = await createInvite(service, owner, company)
    const list = (await as(owner, get(`${company.url}/invites`))).json<{ id: string }[]>()
    for (const role of ['owner', 'admin'] as const) {
      const answer = await as(company[role], get(urlOf({ id })))
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.json()).toEqual(list.find((one) => one.id === id))
    }
  })

  it('returns what has become of it, also when the list has it no more', async () => {
    const person = await service.createPerson({ name: 'Ivy Invited' })
    const accepted = await createInvite(service, owner, company, { email: person.email })
    expect(await statusOf(accepted)).toBe('pending')
    expect((await as(person, post(`/v1/invites/${accepted.token}/accept`))).statusCode).toBe(200)
    expect(await statusOf(accepted)).toBe('accepted')

    const other = await service.createPerson({ name: 'Dan Declines' })
    const declined = await createInvite(service, owner, company, { email: other.email })
    expect((await as(other, post(`/v1/invites/${declined.token}/decline`))).statusCode).toBe(200)
    expect(await statusOf(declined)).toBe('declined')

    const revoked = await createInvite(service, owner, company)
    expect((await as(owner, post(`${urlOf(revoked)}/revoke`))).statusCode).toBe(200)
    expect(await statusOf(revoked)).toBe('revoked')

    const expired = await createInvite(service, owner, company)
    await expire(expired)
    expect(await statusOf(expired)).toBe('expired')
    // An expired one gives way to a new one to the same address.
    const again = await createInvite(service, owner, company, { email: expired.email })
    expect(await statusOf(again)).toBe('pending')
    expect(await statusOf(expired)).toBe('expired')
  })

  it('runs two queries: one for the key and the workspace, one for the invite', async () => {
    const invite = await createInvite(service, owner, company)
    expect(await countQueries(() => as(owner, get(urlOf(invite))))).toBe(2)
  })
})

describe('403', () => {
  it('is the answer to members and viewers, for an invite and for none', async () => {
    const invite = await createInvite(service, owner, company)
    for (const person of [company.member, company.viewer]) {
      expectError(await as(person, get(urlOf(invite))), errors.roleInsufficient)
      expectError(await as(person, get(urlOf({ id: createId() }))), errors.roleInsufficient)
    }
  })
})

describe('404', () => {
  it('is the same for an unknown and a malformed id, for an invite of another workspace and for a token', async () => {
    const other = await createCompany(service)
    const { id, token } = await createInvite(service, other.owner, other)
    for (const path of [id, token, createId(), 'x', '%00', "'"])
      expectError(await as(owner, get(urlOf({ id: path }))), errors.notFound)
  })
})
