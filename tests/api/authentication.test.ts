import { readBearerToken } from '../../src/http/bearer.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { recordApiKeyUses } from '../../src/areas/apiKeys/key-owners.repository.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createApiKeySecret } from '../../src/kernel/tokens.ts'
import { countQueries } from '../support/count-queries.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { expectLinear } from '../support/expect-linear.ts'
import { listen, sendRaw } from '../support/raw-http.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

const { app, as, createPerson, db } = await startTestApp()
const port = await listen(app)

const send = (headers: Record<string, string>, url = '/v1/me') => app.inject({ url, headers })

/** Sends header lines as they are: a client would join or drop doubled ones. */
const sendLines = (lines: string[]) =>
  sendRaw(
    port,
    ['GET /v1/me HTTP/1.1', 'Host: localhost', ...lines, 'Connection: close', '', ''].join('\r\n'),
  )

const createKey = async (person: TestPerson) =>
  (await as(person, { method: 'POST', url: '/v1/api-keys', payload: { name: 'Second' } })).json<{
    id: string
    secret: string
  }>()

describe('an Authorization header with 15,800 spaces', () => {
  it('returns 401, and is read in time in proportion to its length', async () => {
    const answer = await sendLines([`Authorization: Bearer${' '.repeat(15_800)}x y`])
    expect(answer.statusCode).toBe(401)
    await expectLinear((length) => readBearerToken(`Bearer${' '.repeat(length)}x y`), 15_800)
  })
})

describe('a request with a valid key', () => {
  it.each([
    ['in Authorization', (key: string) => ({ authorization: `Bearer ${key}` })],
    ['with the scheme in lower case', (key: string) => ({ authorization: `bearer ${key}` })],
    ['with the scheme in upper case', (key: string) => ({ authorization: `BEARER ${key}` })],
    ['after several spaces', (key: string) => ({ authorization: `Bearer   ${key}` })],
    ['in X-API-Key', (key: string) => ({ 'x-api-key': key })],
    ['in both headers', (key: string) => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
    [
      'in X-API-Key beside an Authorization header of another scheme',
      (key: string) => ({ authorization: 'Basic dXNlcjpwYXNz', 'x-api-key': key }),
    ],
  ])('accepts a key %s', async (_name, headersWith) => {
    const person = await createPerson()
    const answer = await send(headersWith(person.apiKey))
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ id: person.id })
  })

  it('accepts a key over the network', async () => {
    const person = await createPerson()
    const answer = await sendLines([`Authorization: Bearer ${person.apiKey}`])
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toMatchObject({ id: person.id })
  })
})

describe('401', () => {
  it.each([
    ['without a key', {}],
    ['with an empty Authorization', { authorization: '' }],
    ['with the scheme alone', { authorization: 'Bearer' }],
    ['with the scheme and a space', { authorization: 'Bearer ' }],
    ['with an empty X-API-Key', { 'x-api-key': '' }],
    ['with another scheme', { authorization: 'Basic dXNlcjpwYXNz' }],
    ['with 10 kB of junk', { authorization: `Bearer ${'x'.repeat(10_000)}` }],
    ['with 10 kB of junk in X-API-Key', { 'x-api-key': `wsk_${'é'.repeat(5_000)}` }],
    ['with JSON instead of a key', { authorization: 'Bearer {"$ne":null}' }],
    ['with SQL instead of a key', { 'x-api-key': `' or '1'='1` }],
  ])('returns 401 for a request %s', async (_name, headers) => {
    expectError(await send(headers), errors.apiKeyRequired)
  })

  it('returns 401 for a well-formed key that does not exist', async () => {
    const { secret } = createApiKeySecret('wsk')
    expectError(await send({ authorization: `Bearer ${secret}` }), errors.apiKeyRequired)
  })

  it('returns 401 for a key without a scheme in Authorization', async () => {
    const { apiKey } = await createPerson()
    expectError(await send({ authorization: apiKey }), errors.apiKeyRequired)
  })

  it('returns 401 for a key with any single character changed', async () => {
    const { apiKey } = await createPerson()
    const changed = Array.from(apiKey, (character, i) => {
      const other = character === 'x' ? 'y' : 'x'
      return apiKey.slice(0, i) + other + apiKey.slice(i + 1)
    })
    const answers = await Promise.all(changed.map((key) => send({ 'x-api-key': key })))
    expect(answers.map((answer) => answer.statusCode)).toEqual(changed.map(() => 401))
  })

  it('returns 401 for a key with characters missing or added', async () => {
    const { apiKey } = await createPerson()
    const keys = [apiKey.slice(0, -1), apiKey.slice(0, 8), apiKey.slice(1), `${apiKey}x`, apiKey + apiKey]
    for (const key of keys) expectError(await send({ 'x-api-key': key }), errors.apiKeyRequired)
  })

  it('returns 401 for a key in lower case', async () => {
    const { apiKey } = await createPerson()
    expectError(await send({ 'x-api-key': apiKey.toLowerCase() }), errors.apiKeyRequired)
  })

  it('returns 401 for two different valid keys', async () => {
    const [one, other] = [await createPerson(), await createPerson()]
    const answer = await send({ authorization: `Bearer ${one.apiKey}`, 'x-api-key': other.apiKey })
    expectError(answer, errors.apiKeyRequired)
  })

  it('returns 401 for a valid key in one header and an invalid key in the other', async () => {
    const { apiKey } = await createPerson()
    for (const bad of ['nonsense', createApiKeySecret('wsk').secret, '']) {
      expectError(await send({ authorization: `Bearer ${apiKey}`, 'x-api-key': bad }), errors.apiKeyRequired)
    }
    expectError(await send({ authorization: 'Bearer nonsense', 'x-api-key': apiKey }), errors.apiKeyRequired)
  })

  it('returns 401 for two Authorization headers, even with the same key', async () => {
    const [one, other] = [await createPerson(), await createPerson()]
    const first = `Authorization: Bearer ${one.apiKey}`
    for (const second of [other.apiKey, 'nonsense', one.apiKey]) {
      expectError(await sendLines([first, `AUTHORIZATION: Bearer ${second}`]), errors.apiKeyRequired)
    }
  })

  it('returns 401 for two X-API-Key headers', async () => {
    const [one, other] = [await createPerson(), await createPerson()]
    expectError(
      await sendLines([`X-API-Key: ${one.apiKey}`, `x-api-key: ${other.apiKey}`]),
      errors.apiKeyRequired,
    )
  })

  it('returns 401 for a key in the query string', async () => {
    const { apiKey } = await createPerson()
    for (const name of ['api_key', 'apiKey', 'key', 'access_token', 'X-API-Key']) {
      expectError(await send({}, `/v1/me?${name}=${apiKey}`), errors.apiKeyRequired)
    }
  })

  it('returns 401 for a key in the body', async () => {
    const { apiKey } = await createPerson()
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/api-keys',
      payload: { name: 'x', access_token: apiKey },
    })
    expectError(answer, errors.apiKeyRequired)
  })

  it('returns the same response for every reason, except for the request id', async () => {
    const person = await createPerson()
    const key = await createKey(person)
    await as(person, { method: 'POST', url: `/v1/api-keys/${key.id}/revoke` })
    const answers = [
      await send({}),
      await send({ 'x-api-key': 'nonsense' }),
      await send({ 'x-api-key': createApiKeySecret('wsk').secret }),
      await send({ 'x-api-key': key.secret }),
      await send({ 'x-api-key': `${person.apiKey}x` }),
      await send({ authorization: `Bearer ${person.apiKey}`, 'x-api-key': key.secret }),
    ]
    const [first, ...others] = answers.map((answer) => {
      const { requestId, ...rest } = answer.json<{ requestId: string }>()
      const headers = Object.keys(answer.headers).toSorted()
      return { rest, headers, requestIdLength: requestId.length, length: answer.headers['content-length'] }
    })
    for (const other of others) expect(other).toEqual(first)
    expect(new Set(answers.map((answer) => answer.headers['x-request-id'])).size).toBe(answers.length)
  })
})

describe('a revoked key', () => {
  it('returns 401 from the next request on', async () => {
    const person = await createPerson()
    const key = await createKey(person)
    expect((await send({ 'x-api-key': key.secret })).statusCode).toBe(200)
    await as(person, { method: 'POST', url: `/v1/api-keys/${key.id}/revoke` })
    expectError(await send({ 'x-api-key': key.secret }), errors.apiKeyRequired)
  })

  it('returns 401 for the revoked key among concurrent requests with a valid key', async () => {
    const person = await createPerson()
    const key = await createKey(person)
    const sendBoth = () =>
      Promise.all(
        Array.from({ length: 40 }, (_, i) => send({ 'x-api-key': i % 2 === 0 ? key.secret : person.apiKey })),
      )
    // Batches of both are under way when the key is revoked, and each key is asked for many times in one.
    const before = [sendBoth(), nextTurn().then(sendBoth)]
    const revoked = await as(person, { method: 'POST', url: `/v1/api-keys/${key.id}/revoke` })
    expect(revoked.statusCode).toBe(200)
    const after = await sendBoth()
    expect(after.map((answer) => answer.statusCode)).toEqual(after.map((_, i) => (i % 2 === 0 ? 401 : 200)))
    for (const answer of (await Promise.all(before)).flat()) expect([200, 401]).toContain(answer.statusCode)
  })

  it('returns 401 from another process at once', async () => {
    const person = await createPerson()
    const other = await startTestApp()
    const key = await createKey(person)
    expect((await other.as({ apiKey: key.secret }, { url: '/v1/me' })).statusCode).toBe(200)
    await as(person, { method: 'POST', url: `/v1/api-keys/${key.id}/revoke` })
    expectError(await other.as({ apiKey: key.secret }, { url: '/v1/me' }), errors.apiKeyRequired)
  })

  it('returns 401 when the user of the key is deleted', async () => {
    const person = await createPerson()
    await db.execute(sql`delete from users where id = ${person.id}`)
    expectError(await send({ 'x-api-key': person.apiKey }), errors.apiKeyRequired)
  })
})

describe('database queries for authentication', () => {
  it('runs no query for strings that cannot be a key', async () => {
    const { apiKey } = await createPerson()
    const candidates = [
      'nonsense',
      'x'.repeat(10_000),
      apiKey.slice(0, -1),
      `${apiKey.slice(0, -1)}${apiKey.endsWith('x') ? 'y' : 'x'}`,
      apiKey.toUpperCase(),
      `wsk_${'0'.repeat(36)}`,
    ]
    const queries = await countQueries(async () => {
      for (const key of candidates) expectError(await send({ 'x-api-key': key }), errors.apiKeyRequired)
      expectError(await send({}), errors.apiKeyRequired)
    })
    expect(queries).toBe(0)
  })

  it('looks up keys of concurrent requests together', async () => {
    const people = await Promise.all(Array.from({ length: 10 }, () => createPerson()))
    const queries = await countQueries(async () => {
      const answers = await Promise.all(people.map(({ apiKey }) => send({ 'x-api-key': apiKey })))
      expect(answers.map((answer) => answer.json<{ id: string }>().id)).toEqual(people.map(({ id }) => id))
    })
    expect(queries).toBeLessThan(people.length)
  })
})

describe('the order of checks', () => {
  const junk = { method: 'POST' as const, headers: { 'content-type': 'text/plain' }, payload: '}{' }
  const tooLong = JSON.stringify({ name: 'x'.repeat(65 * 1024) })

  it('checks the route first: 404 comes before 401', async () => {
    expectError(await app.inject({ ...junk, url: '/v1/nowhere' }), errors.routeNotFound)
  })

  it('checks the key before the body: 401 comes before 400, 413 and 415', async () => {
    const url = '/v1/api-keys'
    const json = { 'content-type': 'application/json' }
    expectError(await app.inject({ ...junk, url }), errors.apiKeyRequired)
    expectError(await app.inject({ ...junk, url, headers: json, payload: tooLong }), errors.apiKeyRequired)
    expectError(await app.inject({ ...junk, url, headers: json }), errors.apiKeyRequired)
    expectError(await app.inject({ method: 'POST', url: `${url}/nonsense/revoke` }), errors.apiKeyRequired)
  })

  it('checks the body before the id in the path: 400, 413 and 415 come before 404', async () => {
    const person = await createPerson()
    const url = '/v1/api-keys/nonsense/revoke'
    expectError(await as(person, { ...junk, url }), errors.unsupportedMediaType)
    const json = { method: 'POST' as const, url, headers: { 'content-type': 'application/json' } }
    expectError(await as(person, { ...json, payload: tooLong }), errors.bodyTooLarge)
    expect((await as(person, { ...json, payload: '{"a":1}' })).statusCode).toBe(400)
    expectError(await as(person, { ...json, payload: '{}' }), errors.notFound)
  })

  it('checks for conflicts last: 400 comes before 409', async () => {
    const person = await createPerson()
    await db.execute(sql`
      insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at)
      select gen_random_uuid(), ${person.id}, 'Filler', sha256(gen_random_uuid()::text::bytea), 'a', 'z', now()
      from generate_series(1, 99)`)
    const create = { method: 'POST' as const, url: '/v1/api-keys' }
    expect((await as(person, { ...create, payload: { name: '' } })).statusCode).toBe(400)
    expectError(await as(person, { ...create, payload: { name: 'One more' } }), errors.apiKeyLimit)
  })
})

describe('lastUsedAt', () => {
  const findLastUsedAt = async ({ apiKeyId }: TestPerson) => {
    const [row] = await selectRows<{ last_used_at: string | null }>(
      db,
      sql`select last_used_at from api_keys where id = ${apiKeyId}`,
    )
    return row?.last_used_at ? new Date(row.last_used_at) : row?.last_used_at
  }

  it('writes lastUsedAt soon after a request, without another request', async () => {
    const clock = createTestClock(new Date('2026-11-21T03:04:05.678Z'))
    const used = await startTestApp({ clock })
    const person = await used.createPerson()
    await used.as(person, { url: '/v1/me' })
    await eventually(async () => expect(await findLastUsedAt(person)).toEqual(clock.now()))
    const [listed] = (await used.as(person, { url: '/v1/api-keys' })).json<{ lastUsedAt: string }[]>()
    expect(listed?.lastUsedAt).toBe('2026-11-21T03:04:05.678Z')
  })

  it('is written later where the row was locked', async () => {
    const person = await createPerson()
    const use = { id: person.apiKeyId, usedAt: new Date() }
    const retried: unknown[] = []
    const write = () => recordApiKeyUses(db, [use], (one) => retried.push(one))
    await db.transaction(async (tx) => {
      await tx.execute(sql`select from api_keys where id = ${use.id} for no key update`)
      await write()
    })
    expect(retried).toEqual([use])
    expect(await findLastUsedAt(person)).toBeNull()
    await write()
    expect(await findLastUsedAt(person)).toEqual(use.usedAt)
    await write()
    expect(retried).toHaveLength(1)
  })

  it('does not write lastUsedAt during the request', async () => {
    const person = await createPerson()
    expect(await countQueries(() => as(person, { url: '/v1/me' }))).toBe(1)
    expect(await findLastUsedAt(person)).toBeNull()
  })

  it('writes lastUsedAt at most once a minute, and not for refused requests', async () => {
    const clock = createTestClock()
    const used = await startTestApp({ clock })
    const [person, unused] = [await used.createPerson(), await used.createPerson()]
    const firstUse = clock.now()
    await used.as(person, { url: '/v1/me' })
    await used.as({ apiKey: `${unused.apiKey}x` }, { url: '/v1/me' })
    clock.advance(59_999)
    await used.as(person, { url: '/v1/me' })
    await used.close()
    expect(await findLastUsedAt(person)).toEqual(firstUse)
    expect(await findLastUsedAt(unused)).toBeNull()
  })

  it('writes lastUsedAt again after a minute, at the latest when the process stops', async () => {
    const clock = createTestClock()
    const used = await startTestApp({ clock })
    const person = await used.createPerson()
    await used.as(person, { url: '/v1/me' })
    clock.advance(60_000)
    await used.as(person, { url: '/v1/me' })
    await used.close()
    expect(await findLastUsedAt(person)).toEqual(clock.now())
  })

  it('keeps a later lastUsedAt that another process has written', async () => {
    const clock = createTestClock()
    const used = await startTestApp({ clock })
    const person = await used.createPerson()
    const later = new Date(clock.now().getTime() + 1_000)
    await db.execute(
      sql`update api_keys set last_used_at = ${later.toISOString()} where id = ${person.apiKeyId}`,
    )
    await used.as(person, { url: '/v1/me' })
    await used.close()
    expect(await findLastUsedAt(person)).toEqual(later)
  })
})
