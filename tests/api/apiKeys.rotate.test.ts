import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import {
  createKey,
  expectNotStored,
  expectWorks,
  pathOfKey,
  readRestrictions,
  type TestKey,
  type TestRestrictions,
} from '../support/api-keys.ts'
import { get, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createWorkspace, randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const rotation = (id: string, body?: object) => post(`${pathOfKey(id)}/rotate`, body)
const inSeconds = (seconds: number) => new Date(clock.now().getTime() + seconds * 1000).toISOString()
const daySeconds = 24 * 60 * 60

async function rotate(caller: { apiKey: string }, id: string, body?: object): Promise<TestKey> {
  const answer = await as(caller, rotation(id, body))
  expect(answer.statusCode, answer.body).toBe(200)
  const key = answer.json<TestKey>()
  return { ...key, apiKey: key.secret }
}

describe('200', () => {
  it('returns another key with the name, the restrictions and the expiry of the old one', async () => {
    const person = await createPerson()
    const { id } = await createWorkspace(service, person)
    const restrictions: TestRestrictions = {
      expiresAt: inSeconds(30 * daySeconds),
      access: 'read',
      workspaceIds: [id],
      maxRole: 'member',
    }
    const old = await createKey(service, person, restrictions)
    const key = await rotate(person, old.id)
    expect(key).toMatchObject({ name: old.name, lastFour: key.secret.slice(-4) })
    expect(key.id).not.toBe(old.id)
    expect(key.secret).not.toBe(old.secret)
    expect(await readRestrictions(service, person, key)).toEqual(restrictions)
  })

  it.each([
    [undefined, daySeconds],
    [{}, daySeconds],
    [{ overlapSeconds: 604_800 }, 604_800],
  ])('with %j the old key works for %i seconds', async (body, seconds) => {
    const person = await createPerson()
    const old = await createKey(service, person)
    const key = await rotate(person, old.id, body)
    expect(await readRestrictions(service, person, old)).toMatchObject({ expiresAt: inSeconds(seconds) })
    clock.advance(seconds * 1000 - 1)
    await expectWorks(service, old, true)
    clock.advance(1)
    await expectWorks(service, old, false)
    await expectWorks(service, key, true)
  })

  it('revokes the old key at once without an overlap', async () => {
    const person = await createPerson()
    const key = await rotate(person, person.apiKeyId, { overlapSeconds: 0 })
    await expectWorks(service, person, false)
    const listed = (await as(key, get('/v1/api-keys'))).json<{ id: string }[]>()
    expect(listed.map(({ id }) => id)).toEqual([key.id])
  })

  it('does not let the old key work beyond its own expiry', async () => {
    const person = await createPerson()
    const expiresAt = inSeconds(60)
    const old = await createKey(service, person, { expiresAt })
    const key = await rotate(person, old.id)
    for (const { id } of [old, key])
      expect(await readRestrictions(service, person, { id })).toMatchObject({ expiresAt })
  })

  it('lets a key that is bound to workspaces rotate itself, and only itself', async () => {
    const person = await createPerson()
    const { id } = await createWorkspace(service, person)
    const old = await createKey(service, person, { workspaceIds: [id] })
    expectError(await as(old, rotation(person.apiKeyId)), errors.keyRestricted)
    const key = await rotate(old, old.id)
    expect(await readRestrictions(service, key, key)).toMatchObject({ workspaceIds: [id] })
  })

  it('replays the new key to the old one, and stores no secret in clear', async () => {
    const person = await createPerson()
    const headers = { 'idempotency-key': randomSlug() }
    const request = { ...rotation(person.apiKeyId, { overlapSeconds: 60 }), headers }
    const [first, again] = [await as(person, request), await as(person, request)]
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    await expectNotStored(service, first.json<TestKey>().secret)
  })
})

describe('400', () => {
  it.each([-1, 604_801, 1.5, '60'])(
    'returns 400 for an overlap of %j, and rotates nothing',
    async (seconds) => {
      const person = await createPerson()
      const answer = await as(person, rotation(person.apiKeyId, { overlapSeconds: seconds }))
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toMatchObject([{ path: ['overlapSeconds'] }])
      expect((await as(person, get('/v1/api-keys'))).json()).toHaveLength(1)
    },
  )
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const { apiKeyId } = await createPerson()
    expectError(await app.inject(rotation(apiKeyId)), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 to a restricted key for another key, known or not', async () => {
    const person = await createPerson()
    const key = await createKey(service, person, { expiresAt: inSeconds(60) })
    for (const id of [person.apiKeyId, createId()]) {
      expectError(await as(key, rotation(id)), errors.keyRestricted)
      expectError(await as(key, post(`${pathOfKey(id)}/revoke`)), errors.keyRestricted)
    }
    await expectWorks(service, person, true)
  })
})

describe('404', () => {
  it('returns 404 for a key of another person, a revoked one and no id', async () => {
    const [person, stranger] = [await createPerson(), await createPerson()]
    const revoked = await createKey(service, person)
    await as(person, post(`${pathOfKey(revoked.id)}/revoke`))
    for (const id of [stranger.apiKeyId, revoked.id, createId(), 'x'])
      expectError(await as(person, rotation(id)), errors.notFound)
  })
})

describe('409', () => {
  it('returns 409 for a key that was rotated, also when four requests rotate it at once', async () => {
    const person = await createPerson()
    const old = await createKey(service, person)
    const answers = await Promise.all([1, 2, 3, 4].map(() => as(person, rotation(old.id))))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409, 409, 409])
    expectError(await as(old, rotation(old.id)), errors.keyRotated)
    expect((await as(person, get('/v1/api-keys'))).json()).toHaveLength(3)
  })

  it('counts the old key until its overlap ends', async () => {
    const person = await createPerson()
    await db.execute(sql`
      insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at)
      select gen_random_uuid(), ${person.id}, 'Filler', sha256(gen_random_uuid()::text::bytea), 'wsk_aaaa', 'zzzz', now()
      from generate_series(2, 100)`)
    expectError(await as(person, rotation(person.apiKeyId)), errors.apiKeyLimit)
    await expectWorks(service, person, true)
    await expectWorks(service, await rotate(person, person.apiKeyId, { overlapSeconds: 0 }), true)
  })
})
