import { sql } from 'drizzle-orm'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { anyIssues, expectError, issuesOf, sortIssues } from '../support/expect-error.ts'
import { listen, sendRaw } from '../support/raw-http.ts'
import { selectRows, startTestApp, type TestPerson } from '../support/test-app.ts'

const { app, as, createPerson, db } = await startTestApp()
const port = await listen(app)

interface BodyOperation {
  id: string
  method: 'POST' | 'PATCH'
  url: string
  valid: Record<string, unknown>
}

const bodyOperations: BodyOperation[] = [
  { id: 'apiKeys.create', method: 'POST', url: '/v1/api-keys', valid: { name: 'Valid' } },
  { id: 'me.updateProfile', method: 'PATCH', url: '/v1/me', valid: { name: 'Valid' } },
  {
    id: 'me.updatePreferences',
    method: 'PATCH',
    url: '/v1/me/preferences',
    valid: { productUpdates: false, workspaceActivity: false },
  },
]

const json = { 'content-type': 'application/json' }

/** Everything that is stored of a person, but for the uses of their keys. */
const findStored = async ({ id }: TestPerson) => ({
  user: await selectRows(db, sql`select * from users where id = ${id}`),
  keys: await selectRows(
    db,
    sql`select id, name, revoked_at from api_keys where user_id = ${id} order by id`,
  ),
})

describe.each(bodyOperations)('$id with an invalid body', ({ method, url, valid }) => {
  const fields = Object.keys(valid)
  const [firstField = ''] = fields
  const issue = (_tag: string, ...path: string[]) => ({ _tag, path })

  /** Sends a body that is refused with these issues, and asserts that nothing was stored. */
  async function expectRefused(payload: string, issues: { _tag: string; path: string[] }[]): Promise<void> {
    const person = await createPerson()
    const before = await findStored(person)
    const answer = await as(person, { method, url, headers: json, payload })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(sortIssues(issues))
    expect(await findStored(person)).toEqual(before)
  }

  it('returns 400 for an unknown field', async () => {
    await expectRefused(JSON.stringify({ ...valid, extra: 1 }), [issue('Unexpected', 'extra')])
  })

  it('returns 400 with an issue for each missing field', async () => {
    await expectRefused(
      '{}',
      fields.map((field) => issue('Missing', field)),
    )
  })

  it.each([
    ['null', null],
    ['a number', 5],
    ['an object', {}],
    ['an array', ['true']],
    ['a string or boolean of the wrong type', 'other'],
  ])('returns 400 for %s in a field', async (_name, value) => {
    const wrong = value === 'other' ? (typeof valid[firstField] === 'string' ? true : 'true') : value
    await expectRefused(JSON.stringify({ ...valid, [firstField]: wrong }), [issue('Type', firstField)])
  })

  it('returns 400 with all issues at once', async () => {
    const body = { [firstField]: 5, extra: 1, another: {} }
    await expectRefused(JSON.stringify(body), [
      issue('Type', firstField),
      ...fields.slice(1).map((field) => issue('Missing', field)),
      issue('Unexpected', 'extra'),
      issue('Unexpected', 'another'),
    ])
  })

  it.each(['null', '5', '"text"', 'true', '[]', '[{"name":"x"}]'])(
    'returns 400 for %s instead of an object',
    async (text) => {
      await expectRefused(text, [issue('Type')])
    },
  )

  it.each(['{', '{"name":', '{"name":"x"}}', "{'name':'x'}", '{name:"x"}', 'undefined', '\u0000', 'NaN'])(
    'returns 400 for invalid JSON: %j',
    async (text) => {
      await expectRefused(text, [issue('Type')])
    },
  )

  it.each(['', ' ', '\r\n\t'])('returns 400 for the empty body %j', async (text) => {
    await expectRefused(text, [issue('Missing')])
  })

  it('returns 400 for a request without a body', async () => {
    const person = await createPerson()
    const before = await findStored(person)
    const answer = await as(person, { method, url })
    expectError(answer, errors.decodeError, {
      issues: [{ _tag: 'Missing', path: [], message: 'is required' }],
    })
    expect(await findStored(person)).toEqual(before)
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'returns 400 for a field named %s, and leaves Object.prototype unchanged',
    async (name) => {
      const text = JSON.stringify(valid).replace('{', `{"${name}":{"polluted":true},`)
      await expectRefused(text, [issue('Unexpected', name)])
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    },
  )

  it('returns 400 for a __proto__ that contains the missing fields', async () => {
    await expectRefused(`{"__proto__":${JSON.stringify(valid)}}`, [
      issue('Unexpected', '__proto__'),
      ...fields.map((field) => issue('Missing', field)),
    ])
  })

  it('returns 400 for 30,000 levels of nesting', async () => {
    const depth = 30_000
    const arrays = '['.repeat(depth) + ']'.repeat(depth)
    await expectRefused(arrays, [issue('Type')])
    await expectRefused(`{"extra":${arrays},${JSON.stringify(valid).slice(1)}`, [
      issue('Unexpected', 'extra'),
    ])
  })

  it('returns 400 for a body that is shorter than its Content-Length', async () => {
    const person = await createPerson()
    const before = await findStored(person)
    const payload = JSON.stringify(valid)
    const headers = { ...json, 'content-length': String(payload.length + 1) }
    expectError(await as(person, { method, url, headers, payload }), errors.decodeError, { issues: [] })
    expect(await findStored(person)).toEqual(before)
  })

  it('returns 413 for a body over 64 KiB', async () => {
    const person = await createPerson()
    const before = await findStored(person)
    const padded = { ...valid, padding: 'x'.repeat(65 * 1024) }
    expectError(
      await as(person, { method, url, headers: json, payload: JSON.stringify(padded) }),
      errors.bodyTooLarge,
    )
    expect(await findStored(person)).toEqual(before)
  })

  it('returns 413 for a chunked body over 64 KiB', async () => {
    const person = await createPerson()
    const before = await findStored(person)
    const answer = await sendRaw(
      port,
      [
        `${method} ${url} HTTP/1.1`,
        'Host: localhost',
        `Authorization: Bearer ${person.apiKey}`,
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        'Connection: close',
        '',
        (65 * 1024).toString(16),
        ' '.repeat(65 * 1024),
        '0',
        '',
        '',
      ].join('\r\n'),
    )
    expectError(answer, errors.bodyTooLarge)
    expect(await findStored(person)).toEqual(before)
  })

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'text/json',
    'application/jsonp',
    'nonsense',
    undefined,
  ])('returns 415 for the content type %s', async (type) => {
    const person = await createPerson()
    const before = await findStored(person)
    const request: InjectOptions = { method, url, payload: Buffer.from(JSON.stringify(valid)) }
    const answer = await as(person, {
      ...request,
      headers: type === undefined ? {} : { 'content-type': type },
    })
    expectError(answer, errors.unsupportedMediaType)
    expect(await findStored(person)).toEqual(before)
  })
})

describe.each(bodyOperations)('$id with a valid body', ({ method, url, valid }) => {
  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/json;'])(
    'accepts the content type %s',
    async (type) => {
      const request: InjectOptions = { method, url, headers: { 'content-type': type } }
      const answer = await as(await createPerson(), { ...request, payload: JSON.stringify(valid) })
      expect(answer.statusCode).toBe(200)
    },
  )

  it('accepts white space around the object, up to 64 KiB in all', async () => {
    const text = JSON.stringify(valid)
    const payload = `\n${text}`.padEnd(64 * 1024)
    const answer = await as(await createPerson(), { method, url, headers: json, payload })
    expect(answer.statusCode).toBe(200)
  })
})

describe('an operation without a body', () => {
  /** One request that would change something, and whether it has. */
  async function prepareRevoke() {
    const person = await createPerson()
    const { id } = (
      await as(person, { method: 'POST', url: '/v1/api-keys', payload: { name: 'Revoke me' } })
    ).json<{ id: string }>()
    return {
      person,
      request: { method: 'POST' as const, url: `/v1/api-keys/${id}/revoke` },
      isRevoked: async () =>
        (
          await selectRows<{ revoked: boolean }>(
            db,
            sql`select revoked_at is not null as revoked from api_keys where id = ${id}`,
          )
        )[0]?.revoked,
    }
  }

  it.each([
    ['a missing body', undefined, undefined],
    ['a missing body with the content type JSON', undefined, 'application/json'],
    ['a missing body with the content type of a form', undefined, 'application/x-www-form-urlencoded'],
    ['an empty body', '', undefined],
    ['an empty body with the content type JSON', '', 'application/json'],
    ['an empty body with the content type text', '', 'text/plain'],
    ['an empty body with the content type of a form', '', 'application/x-www-form-urlencoded'],
    ['white space', ' \n', 'application/json'],
    ['{}', '{}', 'application/json'],
    ['{} with white space', ' { } ', 'application/json; charset=utf-8'],
  ])('accepts %s', async (_name, payload, type) => {
    const { person, request, isRevoked } = await prepareRevoke()
    const answer = await as(person, {
      ...request,
      ...(payload !== undefined && { payload }),
      headers: type === undefined ? {} : { 'content-type': type },
    })
    expect(answer.json()).toEqual({ ok: true })
    expect(answer.statusCode).toBe(200)
    expect(await isRevoked()).toBe(true)
  })

  it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'accepts Content-Length 0 with the content type %s',
    async (type) => {
      const { person, request, isRevoked } = await prepareRevoke()
      const headers = { 'content-type': type, 'content-length': '0' }
      expect((await as(person, { ...request, headers })).json()).toEqual({ ok: true })
      expect(await isRevoked()).toBe(true)
    },
  )

  it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'accepts an empty chunked body with the content type %s',
    async (type) => {
      const { person, request, isRevoked } = await prepareRevoke()
      const answer = await sendRaw(
        port,
        [
          `POST ${request.url} HTTP/1.1`,
          'Host: localhost',
          `Authorization: Bearer ${person.apiKey}`,
          `Content-Type: ${type}`,
          'Transfer-Encoding: chunked',
          'Connection: close',
          '',
          '0',
          '',
          '',
        ].join('\r\n'),
      )
      expect(answer.json()).toEqual({ ok: true })
      expect(await isRevoked()).toBe(true)
    },
  )

  it.each([
    ['{"a":1}', [{ _tag: 'Unexpected', path: ['a'] }]],
    [
      '{"a":1,"b":2}',
      [
        { _tag: 'Unexpected', path: ['a'] },
        { _tag: 'Unexpected', path: ['b'] },
      ],
    ],
    ['{"__proto__":{}}', [{ _tag: 'Unexpected', path: ['__proto__'] }]],
    ['[]', [{ _tag: 'Type', path: [] }]],
    ['5', [{ _tag: 'Type', path: [] }]],
    ['null', [{ _tag: 'Type', path: [] }]],
    ['"text"', [{ _tag: 'Type', path: [] }]],
    ['false', [{ _tag: 'Type', path: [] }]],
    ['{', [{ _tag: 'Type', path: [] }]],
  ])('returns 400 for the body %s, and changes nothing', async (payload, issues) => {
    const { person, request, isRevoked } = await prepareRevoke()
    const answer = await as(person, { ...request, headers: json, payload })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await isRevoked()).toBe(false)
  })

  it('returns 415 for a body that is not JSON, and changes nothing', async () => {
    const { person, request, isRevoked } = await prepareRevoke()
    const answer = await as(person, { ...request, headers: { 'content-type': 'text/plain' }, payload: 'x' })
    expectError(answer, errors.unsupportedMediaType)
    expect(await isRevoked()).toBe(false)
  })

  it('returns 413 for a body over 64 KiB, and changes nothing', async () => {
    const { person, request, isRevoked } = await prepareRevoke()
    const answer = await as(person, { ...request, headers: json, payload: ' '.repeat(65 * 1024) })
    expectError(answer, errors.bodyTooLarge)
    expect(await isRevoked()).toBe(false)
  })
})

describe('a malformed id in a path', () => {
  it.each([
    'x',
    '1',
    '-1',
    'null',
    '%00',
    '%F0%9F%94%91',
    "'%20or%20true--",
    '..%2F..%2Fme',
    '00000000-0000-0000-0000-000000000000',
    'c9bf9e57-1685-4c89-bafb-ff5af830be8a',
    `${createId()}x`,
    createId().replaceAll('-', ''),
    `%7B${createId()}%7D`,
    'a'.repeat(5_000),
  ])('returns the same 404 as an unknown id: %s', async (id) => {
    const person = await createPerson()
    const unknown = await as(person, { method: 'POST', url: `/v1/api-keys/${createId()}/revoke` })
    const answer = await as(person, { method: 'POST', url: `/v1/api-keys/${id}/revoke` })
    expectError(unknown, errors.notFound)
    expectError(answer, errors.notFound)
    expect(answer.headers['content-length']).toBe(unknown.headers['content-length'])
  })
})

describe('names of users and API keys', () => {
  const operations = bodyOperations.filter(({ valid }) => 'name' in valid)
  const cases = (names: [string, string][]) =>
    operations.flatMap((operation) => names.map(([what, name]) => ({ ...operation, what, name })))

  it.each(
    cases([
      ['that is empty', ''],
      ['of spaces', '   '],
      ['of tabs', '\t\t'],
      ['of no-break spaces', '\u00a0\u2003\u3000'],
      ['of zero-width characters', '\u200b\u200d\u2060\ufeff'],
      ['of spaces and a zero-width character', ' \u200b '],
      ['with NUL', 'Ada\u0000Lovelace'],
      ['of NUL', '\u0000'],
      ['with an escape character', '\u001b[31mAda'],
      ['with a delete character', 'Ada\u007f'],
      ['with a C1 control character', 'Ada\u0084'],
      ['with a lone high surrogate', 'Ada\ud83d'],
      ['with a lone low surrogate', '\ude00Ada'],
      ['of 101 characters', 'x'.repeat(101)],
      ['of 51 letters with combining marks', 'e\u0301'.repeat(51)],
      ['of 60,000 characters', 'x'.repeat(60_000)],
    ]),
  )('$id returns 400 for a name $what', async ({ method, url, name }) => {
    const person = await createPerson()
    const before = await findStored(person)
    const answer = await as(person, { method, url, headers: json, payload: JSON.stringify({ name }) })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path: ['name'] }])
    expect(await findStored(person)).toEqual(before)
  })

  it.each([
    ['with spaces around it', '  Ada Lovelace\u00a0', 'Ada Lovelace'],
    ['with combining marks', 'Ame\u0301lie', 'Amélie'],
    ['of decomposed Hangul letters', '\u1112\u1161\u11ab', '한'],
    ['with emoji', 'Ada 👩🏽‍💻', 'Ada 👩🏽‍💻'],
    ['of one emoji', '🧑', '🧑'],
    ['with a zero-width joiner that a script needs', 'می‌خواهم', 'می‌خواهم'],
    ['with markup', '<b>"Ada" & \'co\'</b>', '<b>"Ada" & \'co\'</b>'],
    ['with placeholders', '${1} $1 %s {0} \\', '${1} $1 %s {0} \\'],
    ['in a right-to-left script', 'עדה', 'עדה'],
  ])('accepts a name %s, and stores its normalized form', async (_name, name, stored) => {
    const person = await createPerson()
    expect((await as(person, { method: 'PATCH', url: '/v1/me', payload: { name } })).statusCode).toBe(200)
    const created = await as(person, { method: 'POST', url: '/v1/api-keys', payload: { name } })
    expect(created.json()).toMatchObject({ name: stored })
    expect((await as(person, { url: '/v1/me' })).json()).toMatchObject({ name: stored })
    const { user, keys } = await findStored(person)
    expect(user[0]?.name).toBe(stored)
    expect(keys.map((key) => key.name)).toContain(stored)
  })
})

describe('a URL', () => {
  it('accepts a URL of 8 KiB, and returns 413 for a longer one', async () => {
    const person = await createPerson()
    const revoke = (length: number) => ({
      method: 'POST' as const,
      url: `/v1/api-keys/${'x'.repeat(length - '/v1/api-keys//revoke'.length)}/revoke`,
    })
    expectError(await as(person, revoke(8 * 1024)), errors.notFound)
    expectError(await as(person, revoke(8 * 1024 + 1)), errors.urlTooLong)
    expectError(await as(person, revoke(9_000)), errors.urlTooLong)
    expectError(await app.inject(revoke(8 * 1024 + 1)), errors.apiKeyRequired)
    expectError(await as(person, { url: `/${'x'.repeat(9_000)}` }), errors.routeNotFound)
  })

  it.each(['/%', '/%zz', '/v1/api-keys/%zz/revoke', '/v1/api-keys/%E0%A4%A/revoke', '/v1/%c0%af'])(
    'returns 400 for malformed percent-encoding: %s',
    async (url) => {
      const person = await createPerson()
      const answer = await as(person, { method: 'POST', url })
      expectError(answer, errors.decodeError, { issues: [] })
    },
  )
})

describe('a query string', () => {
  it.each(['/v1/me', '/v1/me/preferences', '/v1/api-keys', '/health', '/ready'])(
    'returns 400 for unknown query parameters: %s',
    async (url) => {
      const answer = await as(await createPerson(), { url: `${url}?verbose=1&__proto__=x&verbose=2` })
      expectError(answer, errors.decodeError, { issues: anyIssues })
      expect(issuesOf(answer)).toEqual(
        sortIssues([
          { _tag: 'Unexpected', path: ['verbose'] },
          { _tag: 'Unexpected', path: ['__proto__'] },
        ]),
      )
    },
  )

  it('accepts an empty query string', async () => {
    expect((await as(await createPerson(), { url: '/v1/me?' })).statusCode).toBe(200)
  })

  it('returns 400 for an unknown query parameter, and changes nothing', async () => {
    const person = await createPerson({ name: 'Unchanged' })
    const before = await findStored(person)
    const payload = { name: 'Changed' }
    const answer = await as(person, { method: 'PATCH', url: '/v1/me?dryRun=true', payload })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['dryRun'] }])
    expect(answer.statusCode).toBe(400)
    expect(await findStored(person)).toEqual(before)
  })
})

describe('malformed HTTP', () => {
  it.each([
    ['garbage', 'nonsense\r\n\r\n'],
    ['binary garbage', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03])],
    ['an unknown method', 'BREW /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['an invalid header', 'GET /health HTTP/1.1\r\nHost: localhost\r\nb@d header\r\n\r\n'],
    ['an invalid Content-Length', 'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n'],
    [
      'two Content-Length headers',
      'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
    [
      'both Content-Length and Transfer-Encoding',
      'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
  ])('returns 400 for %s', async (_name, bytes) => {
    expectError(await sendRaw(port, bytes), errors.decodeError, { issues: [] })
  })

  it('returns 400 for malformed chunks of a body, and changes nothing', async () => {
    const person = await createPerson()
    const before = await findStored(person)
    const answer = await sendRaw(
      port,
      [
        'PATCH /v1/me HTTP/1.1',
        'Host: localhost',
        `X-API-Key: ${person.apiKey}`,
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        '',
        'nonsense',
        '',
      ].join('\r\n'),
    )
    expectError(answer, errors.decodeError, { issues: [] })
    expect(await findStored(person)).toEqual(before)
  })

  it('does not affect the next connection', async () => {
    await sendRaw(port, 'nonsense\r\n\r\n')
    const answer = await sendRaw(port, 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect(answer.statusCode).toBe(200)
  })
})

describe('request headers', () => {
  it('returns 413 headers_too_large for headers over 16 KiB', async () => {
    const answer = await sendRaw(
      port,
      `GET /health HTTP/1.1\r\nHost: localhost\r\nX-Padding: ${'x'.repeat(17 * 1024)}\r\n\r\n`,
    )
    expectError(answer, errors.headersTooLarge)
  })
})
