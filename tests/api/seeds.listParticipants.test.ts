import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createCompany, get } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { createEmptySeed, joinSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, createPerson, db } = service

describe('200', () => {
  it('returns the participants to every member, in the order in which they joined', async () => {
    const company = await createCompany(service)
    const { owner, admin, member, viewer } = company
    await db.execute(sql`update users set image_key = 'photo.webp' where id = ${member.id}`)
    const seed = await createEmptySeed(service, owner, company)
    const other = await createEmptySeed(service, owner, company)
    await joinSeed(service, owner, other)
    const url = `/v1/seeds/${seed.id}/participants`
    expect((await as(viewer, get(url))).json()).toEqual([])
    const times: string[] = []
    for (const person of [member, admin]) {
      clock.advance(1_000)
      times.push(clock.now().toISOString())
      await joinSeed(service, person, seed)
    }
    for (const person of [owner, admin, member, viewer]) {
      const answer = await as(person, get(url))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual([
        {
          userId: member.id,
          name: 'Mary Member',
          image: 'http://localhost:3000/pictures/photo.webp',
          joinedAt: times[0],
        },
        { userId: admin.id, name: 'Adam Admin', image: null, joinedAt: times[1] },
      ])
    }
  })

  it('runs two queries: one for the key and the workspace, one for the participants', async () => {
    const company = await createCompany(service)
    const seed = await createEmptySeed(service, company.owner, company)
    const url = `/v1/seeds/${seed.id}/participants`
    expect(await countQueries(() => as(company.owner, get(url)))).toBe(2)
  })
})

describe('404', () => {
  it('returns 404 to a stranger, and for an unknown or malformed id', async () => {
    const company = await createCompany(service)
    const seed = await createEmptySeed(service, company.owner, company)
    const stranger = await createPerson()
    expectError(await as(stranger, get(`/v1/seeds/${seed.id}/participants`)), errors.notFound)
    for (const id of [createId(), 'x', '%00'])
      expectError(await as(company.owner, get(`/v1/seeds/${id}/participants`)), errors.notFound)
  })
})
