import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createInvite, createTeam, get } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { insertGrant } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)

/** The newest event of a type, as the owner sees it. */
async function findNewest(type: string): Promise<{ id: string }> {
  const [event] = (await as(company.owner, get(`${company.url}/events?type=${type}`))).json<
    { id: string }[]
  >()
  if (!event) throw new Error(`there is no ${type}`)
  return event
}

const urlOf = ({ id }: { id: string }) => `${company.url}/events/${id}`

describe('200', () => {
  it('returns to every member the same event as the list', async () => {
    await createTeam(service, company.owner, company)
    const event = await findNewest('team.created')
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const answer = await as(company[role], get(urlOf(event)))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual(event)
    }
  })

  it('runs two queries: one for the key and the workspace, one for the event', async () => {
    await createTeam(service, company.owner, company)
    const event = await findNewest('team.created')
    expect(await countQueries(() => as(company.owner, get(urlOf(event))))).toBe(2)
  })

  it('returns an event of an invite to an admin', async () => {
    await createInvite(service, company.owner, company)
    const event = await findNewest('invite.created')
    expect((await as(company.admin, get(urlOf(event)))).json()).toEqual(event)
  })
})

describe('404', () => {
  it('returns 404 to members and viewers for an event of an invite', async () => {
    await createInvite(service, company.owner, company)
    const event = await findNewest('invite.created')
    for (const role of ['member', 'viewer'] as const)
      expectError(await as(company[role], get(urlOf(event))), errors.notFound)
  })

  it("returns 404 to a viewer for an event of another user's grant", async () => {
    const { id: grantId } = await insertGrant(service, company.workspace, company.member)
    const revoked = await as(company.owner, {
      method: 'POST',
      url: `${company.url}/integrations/${grantId}/revoke`,
    })
    expect(revoked.statusCode).toBe(200)
    const event = await findNewest('integration.revoked')
    expect((await as(company.member, get(urlOf(event)))).json()).toEqual(event)
    expectError(await as(company.viewer, get(urlOf(event))), errors.notFound)
  })

  it('returns 404 for an event of another workspace, an unknown id and a malformed id', async () => {
    const other = await createCompany(service)
    await createTeam(service, company.owner, company)
    const { id } = await findNewest('team.created')
    for (const path of [id, createId(), 'x', '%00', "'"])
      expectError(await as(other.owner, get(`${other.url}/events/${path}`)), errors.notFound)
  })
})
