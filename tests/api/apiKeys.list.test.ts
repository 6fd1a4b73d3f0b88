import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { expectError } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'

const clock = createTestClock(new Date('2026-11-21T03:04:05.678Z'))
const { app, as, createPerson, db } = await startTestApp({ clock })

const list = { url: '/v1/api-keys' }

interface ListedKey {
  id: string
  name: string
}

describe('200', () => {
  it('returns only the public fields of a key, and forbids caching', async () => {
    const person = await createPerson()
    const answer = await as(person, list)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['cache-control']).toBe('private, no-store')
    expect(answer.json()).toEqual([
      {
        id: person.apiKeyId,
        name: 'Test key',
        tokenPrefix: person.apiKey.slice(0, 8),
        lastFour: person.apiKey.slice(-4),
        createdAt: '2026-11-21T03:04:05.678Z',
        lastUsedAt: null,
      },
    ])
  })

  it('returns when a key was last used', async () => {
    const person = await createPerson()
    await db.execute(
      sql`update api_keys set last_used_at = '2026-11-20T23:00:00.001-04:00' where id = ${person.apiKeyId}`,
    )
    const answer = await as(person, list)
    expect(answer.json<ListedKey[]>()[0]).toMatchObject({ lastUsedAt: '2026-11-21T03:00:00.001Z' })
  })

  it('lists the newest keys first, also within one millisecond', async () => {
    const person = await createPerson()
    for (const name of ['second', 'third', 'fourth']) {
      if (name === 'fourth') clock.advance(1)
      await as(person, { method: 'POST', url: '/v1/api-keys', payload: { name } })
    }
    const names = (await as(person, list)).json<ListedKey[]>().map((key) => key.name)
    expect(names).toEqual(['fourth', 'third', 'second', 'Test key'])
  })

  it('omits revoked keys and the keys of other users', async () => {
    const [person, stranger] = [await createPerson(), await createPerson()]
    const { id } = (
      await as(person, { method: 'POST', url: '/v1/api-keys', payload: { name: 'short-lived' } })
    ).json<{ id: string }>()
    await as(person, { method: 'POST', url: `/v1/api-keys/${id}/revoke` })
    expect((await as(person, list)).json<ListedKey[]>().map((key) => key.id)).toEqual([person.apiKeyId])
    expect((await as(stranger, list)).json<ListedKey[]>().map((key) => key.id)).toEqual([stranger.apiKeyId])
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(list), errors.apiKeyRequired)
  })
})

describe('404', () => {
  it('returns 404 for DELETE', async () => {
    expectError(await as(await createPerson(), { ...list, method: 'DELETE' }), errors.routeNotFound)
  })
})
