import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { expectError } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

const clock = createTestClock()
const { app, as, createPerson, db } = await startTestApp({ clock })

const revoke = (id: string) => ({ method: 'POST' as const, url: `/v1/api-keys/${id}/revoke` })

const createKey = async (person: TestPerson) =>
  (await as(person, { method: 'POST', url: '/v1/api-keys', payload: { name: 'Second' } })).json<{
    id: string
    secret: string
  }>()

const findRevokedAt = async (id: string) => {
  const [row] = await selectRows<{ revoked_at: string | null }>(
    db,
    sql`select revoked_at from api_keys where id = ${id}`,
  )
  return row?.revoked_at ? new Date(row.revoked_at) : row?.revoked_at
}

describe('200', () => {
  it('revokes a key from the next request on, and no other key', async () => {
    const person = await createPerson()
    const key = await createKey(person)
    const answer = await as(person, revoke(key.id))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ ok: true })
    expectError(await as({ apiKey: key.secret }, { url: '/v1/me' }), errors.apiKeyRequired)
    expect((await as(person, { url: '/v1/me' })).statusCode).toBe(200)
    expect(await findRevokedAt(key.id)).toEqual(clock.now())
    expect(await findRevokedAt(person.apiKeyId)).toBeNull()
  })

  it('lets a key revoke itself', async () => {
    const person = await createPerson()
    expect((await as(person, revoke(person.apiKeyId))).json()).toEqual({ ok: true })
    expectError(await as(person, revoke(person.apiKeyId)), errors.apiKeyRequired)
  })

  it('returns 200 when repeated, and keeps the first time of revocation', async () => {
    const person = await createPerson()
    const { id } = await createKey(person)
    const firstMoment = clock.now()
    await as(person, revoke(id))
    clock.advance(5_000)
    const again = await as(person, revoke(id))
    expect(again.statusCode).toBe(200)
    expect(again.json()).toEqual({ ok: true })
    expect(await findRevokedAt(id)).toEqual(firstMoment)
  })

  it('returns 200 to each of 4 concurrent requests', async () => {
    const person = await createPerson()
    const { id } = await createKey(person)
    const answers = await Promise.all([1, 2, 3, 4].map(() => as(person, revoke(id))))
    expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200])
  })
})

describe('400', () => {
  it('returns 400 for a body, and revokes nothing', async () => {
    const person = await createPerson()
    const answer = await as(person, { ...revoke(person.apiKeyId), payload: { reason: 'lost' } })
    expectError(answer, errors.decodeError, {
      issues: [{ _tag: 'Unexpected', path: ['reason'], message: 'is not a known field' }],
    })
    expect(await findRevokedAt(person.apiKeyId)).toBeNull()
  })
})

describe('401', () => {
  it('returns 401 without a key, whether the id exists or not', async () => {
    const person = await createPerson()
    expectError(await app.inject(revoke(person.apiKeyId)), errors.apiKeyRequired)
    expectError(await app.inject(revoke(createId())), errors.apiKeyRequired)
    expect(await findRevokedAt(person.apiKeyId)).toBeNull()
  })
})

describe('404', () => {
  it('returns the same 404 for a key of another user and for an unknown id', async () => {
    const [person, stranger] = [await createPerson(), await createPerson()]
    const theirs = await as(stranger, revoke(person.apiKeyId))
    const nobodys = await as(stranger, revoke(createId()))
    expectError(theirs, errors.notFound)
    expectError(nobodys, errors.notFound)
    expect(await findRevokedAt(person.apiKeyId)).toBeNull()
    expect((await as(person, { url: '/v1/me' })).statusCode).toBe(200)
  })

  it('returns 404 for GET', async () => {
    const person = await createPerson()
    const answer = await as(person, { ...revoke(person.apiKeyId), method: 'GET' })
    expectError(answer, errors.routeNotFound)
  })
})
