import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)

describe('200', () => {
  it('returns to every member the same team as the list', async () => {
    const { id, url } = await createTeam(service, company.owner, company, 'Design')
    for (const { id: userId } of [company.member, company.viewer])
      expect((await as(company.owner, post(`${url}/members`, { userId }))).statusCode).toBe(200)
    const teams = (await as(company.owner, get(`${company.url}/teams`))).json<{ id: string }[]>()
    const team = teams.find((one) => one.id === id)
    expect(team).toMatchObject({ name: 'Design', memberCount: 2 })
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const answer = await as(company[role], get(url))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual(team)
    }
  })

  it('runs two queries: one for the key and the workspace, one for the team', async () => {
    const { url } = await createTeam(service, company.owner, company, 'Queries')
    expect(await countQueries(() => as(company.viewer, get(url)))).toBe(2)
  })
})

describe('404', () => {
  it('returns 404 for a team of another workspace, an unknown id and a malformed id', async () => {
    const { id } = await createTeam(service, company.owner, company, 'Elsewhere')
    const other = await createCompany(service)
    for (const path of [id, createId(), 'x', '%00', "'"])
      expectError(await as(other.owner, get(`${other.url}/teams/${path}`)), errors.notFound)
  })
})
