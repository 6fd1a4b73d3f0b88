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

describe.each(bodyOperations)('$id refuses', ({ method, url, valid }) => {
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

  it('an unknown field', async () => {
    await expectRefused(JSON.stringify({ ...valid, extra: 1 }), [issue('Unexpected', 'extra')])
  })

  it('a missing field, each of them', async () => {
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
    ['words for what is none, or the other way round', 'other'],
  ])('%s in a field', async (_name, value) => {
    const wrong = value === 'other' ? (typeof valid[firstField] === 'string' ? true : 'true') : value
    await expectRefused(JSON.stringify({ ...valid, [firstField]: wrong }), [issue('Type', firstField)])
  })

  it('every fault at once', async () => {
    const body = { [firstField]: 5, extra: 1, another: {} }
    await expectRefused(JSON.stringify(body), [
      issue('Type', firstField),
      ...fields.slice(1).map((field) => issue('Missing', field)),
      issue('Unexpected', 'extra'),
      issue('Unexpected', 'another'),
    ])
  })

  it.each(['null', '5', '"text"', 'true', '[]', '[{"name":"x"}]'])('%s for an object', async (text) => {
    await expectRefused(text, [issue('Type')])
  })

  it.each(['{', '{"name":', '{"name":"x"}}', "{'name':'x'}", '{name:"x"}', 'undefined', '\u0000', 'NaN'])(
    'what is not JSON: %j',
    async (text) => {
      await expectRefused(text, [issue('Type')])
    },
  )

  it.each(['', ' ', '\r\n\t'])('the empty body %j', async (text) => {
    await expectRefused(text, [issue('Missing')])
  })

  it('no body at all', async () => {
    const person = await createPerson()
    const before = await findStored(person)
    const answer = await as(person, { method, url })
    expectError(answer, errors.decodeError, {
      issues: [{ _tag: 'Missing', path: [], message: 'is required' }],
    })
    expect(await findStored(person)).toEqual(before)
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'a field named %s',
    async (name) => {
      const text = JSON.stringify(valid).replace('{', `{"${name}":{"polluted":true},`)
      await expectRefused(text, [issue('Unexpected', name)])
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    },
  )

  it('a __proto__ that would bring the missing fields', async () => {
    await expectRefused(`{"__proto__":${JSON.stringify(valid)}}`, [
      issue('Unexpected', '__proto__'),
      ...fields.map((field) => issue('Missing', field)),
    ])
  })

  it('30,000 levels of nesting', async () => {
    const depth = 30_000
    const arrays = '['.repeat(depth) + ']'.repeat(depth)
    await expectRefused(arrays, [issue('Type')])
    await expectRefused(`{"extra":${arrays},${JSON.stringify(valid).slice(1)}`, [
      issue('Unexpected', 'extra'),
    ])
  })

  it('a body of another length than its Content-Length', async () => {
    const person = await createPerson()
    const before = await findStored(person)
    const payload = JSON.stringify(valid)
    const headers = { ...json, 'content-length': String(payload.length + 1) }
    expectError(await as(person, { method, url, headers, payload }), errors.decodeError, { issues: [] })
    expect(await findStored(person)).toEqual(before)
  })

  it('more than 64 KiB', async () => {
    const person = await createPerson()
    const before = await findStored(person)
    const padded = { ...valid, padding: 'x'.repeat(65 * 1024) }
    expectError(
      await as(person, { method, url, headers: json, payload: JSON.stringify(padded) }),
      errors.bodyTooLarge,
    )
    expect(await findStored(person)).toEqual(before)
  })

  it('more than 64 KiB of unknown length', async () => {
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
  ])('the content type %s', async (type) => {
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

describe.each(bodyOperations)('$id takes', ({ method, url, valid }) => {
  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/json;'])(
    'the content type %s',
    async (type) => {
      const request: InjectOptions = { method, url, headers: { 'content-type': type } }
      const answer = await as(await createPerson(), { ...request, payload: JSON.stringify(valid) })
      expect(answer.statusCode).toBe(200)
    },
  )

  it('white space around the object, up to 64 KiB in all', async () => {
    const text = JSON.stringify(valid)
    const payload = `\n${text}`.padEnd(64 * 1024)
    const answer = await as(await createPerson(), { method, url, headers: json, payload })
    expect(answer.statusCode).toBe(200)
  })
})

describe('an operation that takes no body', () => {
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
    ['none', undefined, undefined],
    ['none, labelled as JSON', undefined, 'application/json'],
    ['none, labelled as a form', undefined, 'application/x-www-form-urlencoded'],
    ['an empty one', '', undefined],
    ['an empty one, labelled as JSON', '', 'application/json'],
    ['an empty one, labelled as text', '', 'text/plain'],
    ['an empty one, labelled as a form', '', 'application/x-www-form-urlencoded'],
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
    'accepts one of length 0, labelled %s',
    async (type) => {
      const { person, request, isRevoked } = await prepareRevoke()
      const headers = { 'content-type': type, 'content-length': '0' }
      expect((await as(person, { ...request, headers })).json()).toEqual({ ok: true })
      expect(await isRevoked()).toBe(true)
    },
  )

  it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded'])(
    'accepts an empty one of unknown length, labelled %s',
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
  ])('refuses %s', async (payload, issues) => {
    const { person, request, isRevoked } = await prepareRevoke()
    const answer = await as(person, { ...request, headers: json, payload })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual(issues)
    expect(await isRevoked()).toBe(false)
  })

  it('refuses one that is not JSON', async () => {
    const { person, request, isRevoked } = await prepareRevoke()
    const answer = await as(person, { ...request, headers: { 'content-type': 'text/plain' }, payload: 'x' })
    expectError(answer, errors.unsupportedMediaType)
    expect(await isRevoked()).toBe(false)
  })

  it('refuses more than 64 KiB', async () => {
    const { person, request, isRevoked } = await prepareRevoke()
    const answer = await as(person, { ...request, headers: json, payload: ' '.repeat(65 * 1024) })
    expectError(answer, errors.bodyTooLarge)
    expect(await isRevoked()).toBe(false)
  })
})

describe('an id that is none', () => {
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
  ])('is answered like one that is unknown: %s', async (id) => {
    const person = await createPerson()
    const unknown = await as(person, { method: 'POST', url: `/v1/api-keys/${createId()}/revoke` })
    const answer = await as(person, { method: 'POST', url: `/v1/api-keys/${id}/revoke` })
    expectError(unknown, errors.notFound)
    expectError(answer, errors.notFound)
    expect(answer.headers['content-length']).toBe(unknown.headers['content-length'])
  })
})

describe('a name', () => {
  const operations = bodyOperations.filter(({ valid }) => 'name' in valid)
  const cases = (names: [string, string][]) =>
    operations.flatMap((operation) => names.map(([what, name]) => ({ ...operation, what, name })))

  it.each(
    cases([
      ['empty', ''],
      ['blank', '   '],
      ['of tabs', '\t\t'],
      ['of no-break spaces', '\u00a0\u2003\u3000'],
      ['of zero-width characters', '\u200b\u200d\u2060\ufeff'],
      ['of a zero-width character between blanks', ' \u200b '],
      ['with NUL', 'Ada\u0000Lovelace'],
      ['of NUL', '\u0000'],
      ['with a line break', 'Ada\nLovelace'],
      ['with a carriage return', 'Ada\rLovelace'],
      ['with a line separator', 'Ada\u2028Lovelace'],
      ['with escape', '\u001b[31mAda'],
      ['with delete', 'Ada\u007f'],
      ['with a C1 control', 'Ada\u0085'],
      ['with a lone high surrogate', 'Ada\ud83d'],
      ['with a lone low surrogate', '\ude00Ada'],
      ['that is too long', 'x'.repeat(101)],
      ['that is too long in combining marks', 'e\u0301'.repeat(51)],
      ['that is far too long', 'x'.repeat(60_000)],
    ]),
  )('$what is refused by $id', async ({ method, url, name }) => {
    const person = await createPerson()
    const before = await findStored(person)
    const answer = await as(person, { method, url, headers: json, payload: JSON.stringify({ name }) })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path: ['name'] }])
    expect(await findStored(person)).toEqual(before)
  })

  it.each([
    ['with blanks around it', '  Ada Lovelace\u00a0', 'Ada Lovelace'],
    ['with combining marks', 'Ame\u0301lie', 'Amélie'],
    ['of Hangul letters', '\u1112\u1161\u11ab', '한'],
    ['with emoji', 'Ada 👩🏽‍💻', 'Ada 👩🏽‍💻'],
    ['of one emoji', '🧑', '🧑'],
    ['with a zero-width joiner that a script needs', 'می‌خواهم', 'می‌خواهم'],
    ['with markup, which is text', '<b>"Ada" & \'co\'</b>', '<b>"Ada" & \'co\'</b>'],
    ['with a placeholder, which is text', '${1} $1 %s {0} \\', '${1} $1 %s {0} \\'],
    ['right to left', 'עדה', 'עדה'],
  ])('%s is stored as people mean it', async (_name, name, stored) => {
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
  it('of 8 KiB is looked at, and a longer one is refused', async () => {
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
    'with malformed percent-encoding is refused: %s',
    async (url) => {
      const person = await createPerson()
      const answer = await as(person, { method: 'POST', url })
      expectError(answer, errors.decodeError, { issues: [] })
    },
  )
})

describe('a query string', () => {
  it.each(['/v1/me', '/v1/me/preferences', '/v1/api-keys', '/health', '/ready'])(
    'with an unknown parameter is refused by %s',
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

  it('that is empty is none', async () => {
    expect((await as(await createPerson(), { url: '/v1/me?' })).statusCode).toBe(200)
  })

  it('with an unknown parameter keeps a change from being made', async () => {
    const person = await createPerson({ name: 'Unchanged' })
    const before = await findStored(person)
    const payload = { name: 'Changed' }
    const answer = await as(person, { method: 'PATCH', url: '/v1/me?dryRun=true', payload })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Unexpected', path: ['dryRun'] }])
    expect(answer.statusCode).toBe(400)
    expect(await findStored(person)).toEqual(before)
  })
})

describe('bytes that are no request', () => {
  it.each([
    ['garbage', 'nonsense\r\n\r\n'],
    ['binary garbage', Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03])],
    ['an unknown method', 'BREW /health HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a bad header', 'GET /health HTTP/1.1\r\nHost: localhost\r\nb@d header\r\n\r\n'],
    ['a bad length', 'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n'],
    [
      'two lengths',
      'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
    [
      'a length and chunks',
      'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
  ])('are refused: %s', async (_name, bytes) => {
    expectError(await sendRaw(port, bytes), errors.decodeError, { issues: [] })
  })

  it('are refused when they are chunks of a body', async () => {
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

  it('do not keep the next connection from being answered', async () => {
    await sendRaw(port, 'nonsense\r\n\r\n')
    const answer = await sendRaw(port, 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect(answer.statusCode).toBe(200)
  })
})

describe('headers', () => {
  it('of more than 16 KiB are refused', async () => {
    const answer = await sendRaw(
      port,
      `GET /health HTTP/1.1\r\nHost: localhost\r\nX-Padding: ${'x'.repeat(17 * 1024)}\r\n\r\n`,
    )
    expectError(answer, errors.headersTooLarge)
  })
})
