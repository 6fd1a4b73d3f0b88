import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, get } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { createEmptySeed, joinSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createId } from '../../src/kernel/ids.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as } = service
const company = await createCompany(service)

describe('200', () => {
  it('returns the seed to every member, with whether the caller has joined it', async () => {
    const seed = await createEmptySeed(service, company.member, company, { problem: 'No time' })
    await joinSeed(service, company.admin, seed)
    const joinedAt = clock.now().toISOString()
    for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
      const answer = await as(company[role], get(`/v1/seeds/${seed.id}`))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({
        ...{ ...seed, participantCount: 1, activityAt: joinedAt },
        ...{ joined: role === 'admin', following: role === 'admin' },
      })
      expect(answer.headers['cache-control']).toBe('private, no-cache')
    }
  })

  it('runs two queries: one for the key and the workspace, one for the seed', async () => {
    const { id } = await createEmptySeed(service, company.member, company)
    expect(await countQueries(() => as(company.member, get(`/v1/seeds/${id}`)))).toBe(2)
  })
})

describe('401', () => {
  it('returns 401 without a key, whether the seed exists or not', async () => {
    const { id } = await createEmptySeed(service, company.member, company)
    expectError(await app.inject(get(`/v1/seeds/${id}`)), errors.apiKeyRequired)
    expectError(await app.inject(get(`/v1/seeds/${createId()}`)), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it('returns the same 404 for a seed of another workspace, an unknown id and a malformed id', async () => {
    const { id } = await createEmptySeed(service, company.member, company)
    const other = await createCompany(service)
    for (const path of [id, createId(), id.toUpperCase(), 'x', '%00', "'"]) {
      expectError(await as(other.owner, get(`/v1/seeds/${path}`)), errors.notFound)
    }
  })
})
