import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { isWellFormedApiKey } from '../../src/kernel/tokens.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

const clock = createTestClock()
const { app, as, createPerson, db } = await startTestApp({ clock })

const create = (payload: unknown) => ({
  method: 'POST' as const,
  url: '/v1/api-keys',
  headers: { 'content-type': 'application/json' },
  payload: JSON.stringify(payload),
})

interface CreatedKey {
  id: string
  name: string
  tokenPrefix: string
  lastFour: string
  secret: string
}

const countActive = async ({ id }: TestPerson) =>
  (
    await selectRows<{ count: number }>(
      db,
      sql`select count(*)::int as count from api_keys where user_id = ${id} and revoked_at is null`,
    )
  )[0]?.count

describe('200', () => {
  it('returns a key that works at once', async () => {
    const person = await createPerson()
    const answer = await as(person, create({ name: 'Deploy bot' }))
    expect(answer.statusCode).toBe(200)
    const key = answer.json<CreatedKey>()
    expect(key).toEqual({
      id: expect.any(String) as string,
      name: 'Deploy bot',
      tokenPrefix: key.secret.slice(0, 8),
      lastFour: key.secret.slice(-4),
      secret: expect.stringMatching(/^wsk_[0-9A-Za-z]{36}$/) as string,
    })
    expect(isWellFormedApiKey(key.secret)).toBe(true)
    const profile = await as({ apiKey: key.secret }, { url: '/v1/me' })
    expect(profile.json()).toMatchObject({ id: person.id })
  })

  it('stores the hash of the key, never the key itself', async () => {
    const person = await createPerson()
    const key = (await as(person, create({ name: 'Deploy bot' }))).json<CreatedKey>()
    const [row] = await selectRows(db, sql`select * from api_keys where id = ${key.id}`)
    expect(row).toEqual({
      id: key.id,
      user_id: person.id,
      name: 'Deploy bot',
      secret_hash: createHash('sha256').update(key.secret).digest(),
      token_prefix: key.tokenPrefix,
      last_four: key.lastFour,
      created_at: expect.any(String) as string,
      last_used_at: null,
      revoked_at: null,
      expires_at: null,
      access: 'full',
      workspace_ids: null,
      max_role: null,
      rotated_at: null,
      expiry_notice_at: null,
      shown_to_user_id: null,
    })
    expect(new Date(String(row?.created_at))).toEqual(clock.now())
    expect(JSON.stringify(row)).not.toContain(key.secret)
  })

  it('creates a new key each time, also with the same name', async () => {
    const person = await createPerson()
    const answers = await Promise.all([1, 2, 3].map(() => as(person, create({ name: 'Twin' }))))
    const keys = answers.map((answer) => answer.json<CreatedKey>())
    expect(new Set(keys.map((key) => key.secret)).size).toBe(3)
    expect(new Set(keys.map((key) => key.id)).size).toBe(3)
    expect(await countActive(person)).toBe(4)
  })

  it('starts keys with the configured API_KEY_PREFIX', async () => {
    const { as: asElsewhere, createPerson: createElsewhere } = await startTestApp({
      environment: { API_KEY_PREFIX: 'acme2' },
    })
    const person = await createElsewhere()
    const key = (await asElsewhere(person, create({ name: 'Other' }))).json<CreatedKey>()
    expect(key.secret).toMatch(/^acme2_[0-9A-Za-z]{36}$/)
    expect(key.tokenPrefix).toBe(key.secret.slice(0, 10))
    expect((await asElsewhere({ apiKey: key.secret }, { url: '/v1/me' })).statusCode).toBe(200)
  })

  it('accepts a name of 64 characters', async () => {
    const name = '🔑'.repeat(64)
    const answer = await as(await createPerson(), create({ name }))
    expect(answer.json()).toMatchObject({ name })
  })
})

describe('400', () => {
  it.each([
    ['no name', {}, [{ _tag: 'Missing', path: ['name'] }]],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, [{ _tag: 'Refinement', path: ['name'] }]],
    ['an unknown field', { name: 'x', admin: true }, [{ _tag: 'Unexpected', path: ['admin'] }]],
  ])('returns 400 for %s, and creates no key', async (_name, body, issues) => {
    const person = await createPerson()
    const answer = await as(person, create(body))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await countActive(person)).toBe(1)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    expectError(await app.inject(create({ name: 'x' })), errors.apiKeyRequired)
  })
})

describe('409', () => {
  const fillUpTo = async ({ id }: TestPerson, total: number) => {
    await db.execute(sql`
      insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at)
      select gen_random_uuid(), ${id}, 'Filler', sha256(gen_random_uuid()::text::bytea), 'wsk_aaaa', 'zzzz', now()
      from generate_series(2, ${total}::int)`)
  }

  it('returns 409 api_key_limit for the 101st active key, until one is revoked', async () => {
    const person = await createPerson()
    await fillUpTo(person, 99)
    const last = await as(person, create({ name: 'The 100th' }))
    expect(last.statusCode).toBe(200)
    expectError(await as(person, create({ name: 'The 101st' })), errors.apiKeyLimit)
    expect(await countActive(person)).toBe(100)

    await as(person, { method: 'POST', url: `/v1/api-keys/${last.json<CreatedKey>().id}/revoke` })
    expect((await as(person, create({ name: 'In its place' }))).statusCode).toBe(200)
    expect(await countActive(person)).toBe(100)
  })

  it('never exceeds 100 active keys with 8 concurrent requests', async () => {
    const person = await createPerson()
    await fillUpTo(person, 98)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => as(person, create({ name: `Racer ${i}` }))),
    )
    expect(answers.map((answer) => answer.statusCode).toSorted((a, b) => a - b)).toEqual([
      ...[200, 200],
      ...[409, 409, 409, 409, 409, 409],
    ])
    expect(await countActive(person)).toBe(100)
  })

  it('counts the keys of each user separately', async () => {
    const [full, other] = [await createPerson(), await createPerson()]
    await fillUpTo(full, 100)
    expectError(await as(full, create({ name: 'No' })), errors.apiKeyLimit)
    expect((await as(other, create({ name: 'Yes' }))).statusCode).toBe(200)
  })
})

describe('413', () => {
  it('returns 413 for a body over 64 KiB, and creates no key', async () => {
    const person = await createPerson()
    expectError(await as(person, create({ name: 'x'.repeat(65 * 1024) })), errors.bodyTooLarge)
    expect(await countActive(person)).toBe(1)
  })
})

describe('415', () => {
  it('returns 415 for a body that is not JSON, and creates no key', async () => {
    const person = await createPerson()
    const answer = await as(person, {
      ...create({ name: 'x' }),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'name=x',
    })
    expectError(answer, errors.unsupportedMediaType)
    expect(await countActive(person)).toBe(1)
  })
})
