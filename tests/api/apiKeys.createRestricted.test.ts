import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import {
  createKey,
  expectNotStored,
  expectWorks,
  noRestrictions,
  readRestrictions,
  type TestKey,
} from '../support/api-keys.ts'
import { checkEach } from '../support/check-each.ts'
import { get, post } from '../support/company.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createWorkspace, randomSlug } from '../support/workspaces.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { app, as, createPerson, db } = service

const url = '/v1/api-keys/restricted'
const inDays = (days: number) => new Date(clock.now().getTime() + days * 24 * 60 * 60 * 1000).toISOString()

const countKeys = async ({ id }: TestPerson) =>
  (await selectRows(db, sql`select 1 from api_keys where user_id = ${id}`)).length

describe('200', () => {
  it('returns a key that has the restrictions from its first request on', async () => {
    const person = await createPerson()
    const workspace = await createWorkspace(service, person)
    const restrictions = {
      expiresAt: inDays(1),
      access: 'read' as const,
      workspaceIds: [workspace.id],
      maxRole: 'owner' as const,
    }
    const answer = await as(person, post(url, { name: 'Dashboard', ...restrictions }))
    expect(answer.statusCode, answer.body).toBe(200)
    const key = answer.json<TestKey>()
    expect(key).toEqual({
      id: expect.any(String) as string,
      name: 'Dashboard',
      tokenPrefix: key.secret.slice(0, 8),
      lastFour: key.secret.slice(-4),
      secret: expect.stringMatching(/^wsk_[0-9A-Za-z]{36}$/) as string,
    })
    expect(await readRestrictions(service, person, key)).toEqual(restrictions)
    expectError(await as({ apiKey: key.secret }, post('/v1/workspaces')), errors.keyReadOnly)
  })

  it('stops working at its expiry, and is refused like an unknown key', async () => {
    const person = await createPerson()
    const key = await createKey(service, person, { expiresAt: inDays(1) })
    clock.advance(24 * 60 * 60 * 1000 - 1)
    await expectWorks(service, key, true)
    clock.advance(1)
    await expectWorks(service, key, false)
    const [expired, unknown] = [
      await as(key, get('/v1/me')),
      await as({ apiKey: 'wsk_nothing' }, get('/v1/me')),
    ].map((answer) => ({ ...answer.json<object>(), requestId: '' }))
    expect(expired).toEqual(unknown)
    // It is in no list, and its id is no longer known.
    const keys = (await as(person, get('/v1/api-keys'))).json<{ id: string }[]>()
    expect(keys.map(({ id }) => id)).toEqual([person.apiKeyId])
    expectError(await as(person, get(`/v1/api-keys/${key.id}`)), errors.notFound)
  })

  it('keeps each workspace once', async () => {
    const person = await createPerson()
    const { id } = await createWorkspace(service, person)
    const key = await createKey(service, person, { workspaceIds: [id, id] })
    expect(await readRestrictions(service, person, key)).toMatchObject({ workspaceIds: [id] })
  })

  it('lets a key that expires create keys that expire with it, or before', async () => {
    const person = await createPerson()
    const expiresAt = inDays(2)
    const key = await createKey(service, person, { expiresAt })
    for (const restrictions of [{ expiresAt }, { expiresAt: inDays(1), access: 'read' as const }])
      await expectWorks(service, await createKey(service, key, restrictions), true)
  })

  it('replays the response to an Idempotency-Key, and stores no secret in clear', async () => {
    const person = await createPerson()
    const headers = { 'idempotency-key': randomSlug() }
    const request = { ...post(url, { name: 'Twice', ...noRestrictions }), headers }
    const [first, again] = [await as(person, request), await as(person, request)]
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(again.body).toBe(first.body)
    expect(await countKeys(person)).toBe(2)
    await expectNotStored(service, first.json<TestKey>().secret)
  })
})

describe('400', () => {
  it('returns 400 for restrictions that are missing or of the wrong type, and creates no key', async () => {
    const person = await createPerson()
    const valid = { name: 'x', ...noRestrictions }
    const bodies: [body: object, tag: string, field: string][] = [
      [{ ...valid, access: undefined }, 'Missing', 'access'],
      [{ ...valid, expiresAt: undefined }, 'Missing', 'expiresAt'],
      [{ ...valid, workspaceIds: undefined }, 'Missing', 'workspaceIds'],
      [{ ...valid, access: 'write' }, 'Type', 'access'],
      [{ ...valid, expiresAt: 'tomorrow' }, 'Refinement', 'expiresAt'],
      [{ ...valid, expiresAt: 5 }, 'Type', 'expiresAt'],
      [{ ...valid, workspaceIds: [] }, 'Refinement', 'workspaceIds'],
      [{ ...valid, workspaceIds: Array(101).fill(createId()) }, 'Refinement', 'workspaceIds'],
      [{ ...valid, workspaceIds: 'acme' }, 'Type', 'workspaceIds'],
    ]
    await checkEach(
      bodies,
      ([body]) => JSON.stringify(body).slice(0, 100),
      async ([body, _tag, field]) => {
        const answer = await as(person, post(url, body))
        expectError(answer, errors.decodeError, { issues: anyIssues })
        expect(issuesOf(answer)).toEqual([{ _tag, path: [field] }])
      },
    )
    expect(await countKeys(person)).toBe(1)
  })

  it('returns 400 for an expiry that is not in the future', async () => {
    const person = await createPerson()
    const answer = await as(person, post(url, { name: 'x', ...noRestrictions, expiresAt: inDays(0) }))
    expectError(answer, errors.expiryInPast, { field: 'expiresAt' })
    expect(await countKeys(person)).toBe(1)
  })

  it('returns the same 400 for a workspace of others, an unknown one and no id', async () => {
    const [person, stranger] = [await createPerson(), await createPerson()]
    const [own, theirs] = [await createWorkspace(service, person), await createWorkspace(service, stranger)]
    for (const id of [theirs.id, createId(), own.slug]) {
      const body = { name: 'x', ...noRestrictions, workspaceIds: [own.id, id] }
      expectError(await as(person, post(url, body)), errors.workspaceNotYours, { field: 'workspaceIds' })
    }
    expect(await countKeys(person)).toBe(1)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(post(url, { name: 'x', ...noRestrictions })), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 to a restricted key for a key that may do more, and creates none', async () => {
    const person = await createPerson()
    const expiresAt = inDays(1)
    const key = await createKey(service, person, { expiresAt })
    for (const body of [noRestrictions, { ...noRestrictions, expiresAt: inDays(2) }])
      expectError(await as(key, post(url, { name: 'x', ...body })), errors.keyRestricted)
    expectError(await as(key, post('/v1/api-keys', { name: 'x' })), errors.keyRestricted)
    expect(await countKeys(person)).toBe(2)
  })
})

describe('409', () => {
  it('counts 100 active keys, and no expired ones', async () => {
    const person = await createPerson()
    const key = await createKey(service, person, { expiresAt: inDays(1) })
    await db.execute(sql`
      insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at)
      select gen_random_uuid(), ${person.id}, 'Filler', sha256(gen_random_uuid()::text::bytea), 'wsk_aaaa', 'zzzz', now()
      from generate_series(3, 100)`)
    const body = { name: 'One more', ...noRestrictions }
    expectError(await as(person, post(url, body)), errors.apiKeyLimit)
    clock.advance(24 * 60 * 60 * 1000)
    await expectWorks(service, key, false)
    expect((await as(person, post(url, body))).statusCode).toBe(200)
  })
})
