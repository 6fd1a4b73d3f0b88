import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, createTeam, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson } = service

describe('200', () => {
  it('returns the teams with their number of members to every member, oldest first', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, member, viewer } = company
    const firstAt = clock.now().toISOString()
    const zulu = await createTeam(service, owner, company, 'Zulu')
    clock.advance(1_000)
    const alpha = await createTeam(service, admin, company, 'Alpha')
    for (const { id } of [member, viewer]) await as(owner, post(`${zulu.url}/members`, { userId: id }))
    for (const person of [owner, admin, member, viewer]) {
      const answer = await as(person, get(`${url}/teams`))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual([
        { id: zulu.id, name: 'Zulu', memberCount: 2, createdAt: firstAt },
        { id: alpha.id, name: 'Alpha', memberCount: 0, createdAt: clock.now().toISOString() },
      ])
    }
  })

  it('runs two queries for 8 teams: one for the key, one for the teams', async () => {
    const company = await createCompany(service)
    expect((await as(company.owner, get(`${company.url}/teams`))).json()).toEqual([])
    for (let i = 0; i < 8; i++) await createTeam(service, company.owner, company)
    expect(await countQueries(() => as(company.owner, get(`${company.url}/teams`)))).toBe(2)
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to a stranger, and 404 for an unknown workspace', async () => {
    const { url } = await createCompany(service)
    const stranger = await createPerson()
    expectError(await app.inject(`${url}/teams`), errors.apiKeyRequired)
    expectError(await as(stranger, get(`${url}/teams`)), errors.notAMember)
    expectError(await as(stranger, get(`/v1/workspaces/${randomSlug()}/teams`)), errors.notFound)
  })
})
