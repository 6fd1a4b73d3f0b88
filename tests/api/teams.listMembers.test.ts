import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

describe('200', () => {
  it('returns the members of the team to every member, in the order in which they were added', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, viewer } = company
    await db.execute(sql`update users set image_key = 'photo.webp' where id = ${viewer.id}`)
    const team = await createTeam(service, owner, company)
    expect((await as(viewer, get(`${team.url}/members`))).json()).toEqual([])
    const times: string[] = []
    for (const { id } of [viewer, admin]) {
      clock.advance(1_000)
      times.push(clock.now().toISOString())
      await as(owner, post(`${team.url}/members`, { userId: id }))
    }
    for (const person of [owner, admin, member, viewer]) {
      const answer = await as(person, get(`${team.url}/members`))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual([
        {
          userId: viewer.id,
          name: 'Vera Viewer',
          image: 'http://localhost:3000/pictures/photo.webp',
          addedAt: times[0],
        },
        { userId: admin.id, name: 'Adam Admin', image: null, addedAt: times[1] },
      ])
    }
  })

  it('runs three queries: one for the key and the workspace, one for the team, one for its members', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company)
    expect(await countQueries(() => as(company.owner, get(`${team.url}/members`)))).toBe(3)
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to a stranger, and 404 for an unknown or malformed team id', async () => {
    const company = await createCompany(service)
    const team = await createTeam(service, company.owner, company)
    expectError(await app.inject(`${team.url}/members`), errors.apiKeyRequired)
    expectError(await as(await createPerson(), get(`${team.url}/members`)), errors.notAMember)
    for (const id of [createId(), 'x', '%00'])
      expectError(await as(company.owner, get(`${company.url}/teams/${id}/members`)), errors.notFound)
  })
})
