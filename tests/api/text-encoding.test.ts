import { connect } from 'node:net'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen, sendRaw } from '../support/raw-http.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { cookiesOf, csrfTokenOf, signInAs } from '../website/visitor.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service
const { createAgent, createHost, getTokens } = createOAuthTester(service)
const port = await listen(app)

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** Bytes that are no UTF-8, each inside of a text. */
const invalid: [name: string, bytes: number[]][] = [
  ['Latin-1', [0xe9]],
  ['a truncated character', [0xf0, 0x9f, 0x98]],
  ['an overlong form', [0xc0, 0xaf]],
  ['CESU-8', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
  ['a byte of no character', [0xff]],
]

const around = (before: string, bytes: number[], after: string) =>
  Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])

const nameOf = async (id: string) =>
  (await selectRows<{ name: string }>(db, sql`select name from users where id = ${id}`))[0]?.name

describe('a JSON body', () => {
  it.each(invalid)('is refused with %s, and nothing is stored', async (_name, bytes) => {
    const person = await createPerson()
    const before = await nameOf(person.id)
    const payload = around('{"name":"Ad', bytes, ' M"}')
    const answer = await as(person, { method: 'PATCH', url: '/v1/me', headers: json, payload })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(answer.json()).toMatchObject({ issues: [{ _tag: 'Type', path: [], message: 'must be UTF-8' }] })
    expect(await nameOf(person.id)).toBe(before)
  })

  it('is read with a byte order mark, decomposed letters and escaped surrogate pairs', async () => {
    const person = await createPerson()
    const payload = Buffer.from('\uFEFF{"name":"Ade\u0301 \\ud83d\\ude00"}')
    const answer = await as(person, { method: 'PATCH', url: '/v1/me', headers: json, payload })
    expect(answer.statusCode).toBe(200)
    expect(await nameOf(person.id)).toBe('Ad\u00E9 😀')
  })

  it.each(['iso-8859-1', 'utf-16', '"windows-1252"', 'utf-7'])(
    'gets 415 in the charset %s',
    async (charset) => {
      const person = await createPerson()
      const answer = await as(person, {
        method: 'PATCH',
        url: '/v1/me',
        headers: { 'content-type': `application/json; charset=${charset}` },
        payload: '{"name":"Ada"}',
      })
      expectError(answer, errors.unsupportedMediaType)
      expect(answer.headers['accept-encoding']).toBeUndefined()
    },
  )

  it.each(['utf-8', 'UTF-8', '"utf-8"', 'utf8', 'us-ascii'])('is read in the charset %s', async (charset) => {
    const answer = await as(await createPerson(), {
      method: 'PATCH',
      url: '/v1/me',
      headers: { 'content-type': `application/json;charset=${charset}` },
      payload: '{"name":"Ada"}',
    })
    expect(answer.statusCode).toBe(200)
  })

  it.each(['gzip', 'br', 'identity, gzip', 'unknown'])(
    'gets 415 with Accept-Encoding for the content coding %s',
    async (coding) => {
      const answer = await as(await createPerson(), {
        method: 'PATCH',
        url: '/v1/me',
        headers: { ...json, 'content-encoding': coding },
        payload: '{"name":"Ada"}',
      })
      expectError(answer, errors.unsupportedMediaType)
      expect(answer.headers['accept-encoding']).toBe('identity')
    },
  )

  it('is ignored with a GET, whatever its content coding and charset', async () => {
    const answer = await as(await createPerson(), {
      method: 'GET',
      url: '/v1/me',
      headers: { 'content-type': 'application/json;charset=latin1', 'content-encoding': 'gzip' },
      payload: 'x',
    })
    expect(answer.statusCode).toBe(200)
  })

  it('is read with the content coding identity', async () => {
    const answer = await as(await createPerson(), {
      method: 'PATCH',
      url: '/v1/me',
      headers: { ...json, 'content-encoding': 'identity' },
      payload: '{"name":"Ada"}',
    })
    expect(answer.statusCode).toBe(200)
  })
})

describe('a query', () => {
  it.each([
    ['Latin-1', 'unread=caf%E9', ['unread']],
    ['a truncated character', 'unread=%F0%9F%98', ['unread']],
    ['no hexadecimal digits', 'limit=1&cursor=%zz', ['cursor']],
    ['a percent sign at the end', 'unread=100%', ['unread']],
    ['a name that is none', '%E9=1', ['%E9']],
  ])('is refused with %s', async (_name, query, path) => {
    const answer = await as(await createPerson(), { url: `/v1/me/notifications?${query}` })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Type', path }])
  })

  it('is refused with bytes that are not encoded', async () => {
    const { apiKey } = await createPerson()
    const head = `Host: localhost\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n\r\n`
    const answer = await sendRaw(
      port,
      Buffer.from(`GET /v1/me/notifications?cursor=café HTTP/1.1\r\n${head}`),
    )
    expectError(answer, errors.decodeError, { issues: [] })
  })

  it('is refused after the key has been checked', async () => {
    expectError(await app.inject({ url: '/v1/me/notifications?unread=%E9' }), errors.apiKeyRequired)
    expectError(await app.inject({ url: '/v1/nothing?unread=%E9' }), errors.routeNotFound)
  })

  it('of UTF-8 is read', async () => {
    const answer = await as(await createPerson(), {
      url: '/v1/slug-availability?slug=caf%C3%A9%20%F0%9F%98%80',
    })
    expect(answer.statusCode).not.toBe(400)
  })
})

it.each(['/v1/seeds/%E9', '/v1/seeds/%zz', '/v1/seeds/%', '/v1/seeds/%F0%9F%98'])(
  'the path %s is refused',
  async (url) => {
    const { apiKey } = await createPerson()
    const answer = await sendRaw(
      port,
      `GET ${url} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n\r\n`,
    )
    expectError(answer, errors.decodeError, { issues: [] })
  },
)

describe('a multipart form', () => {
  const upload = (bytes: number[]) => ({
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    payload: around('--x\r\nContent-Disposition: form-data; name="note"\r\n\r\n', bytes, '\r\n--x--\r\n'),
  })

  it('is refused when a field is not UTF-8', async () => {
    const person = await createPerson()
    const answer = await as(person, { method: 'POST', url: '/v1/me/photo', ...upload([0xe9]) })
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Type', path: ['note'] }])
  })

  it('is read when it is', async () => {
    const person = await createPerson()
    const answer = await as(person, { method: 'POST', url: '/v1/me/photo', ...upload([0xc3, 0xa9]) })
    expectError(answer, errors.fileMissing, { field: 'file' })
  })

  it('gets 415 when it is compressed', async () => {
    const { headers, payload } = upload([])
    const answer = await as(await createPerson(), {
      method: 'POST',
      url: '/v1/me/photo',
      headers: { ...headers, 'content-encoding': 'gzip' },
      payload,
    })
    expectError(answer, errors.unsupportedMediaType)
    expect(answer.headers['accept-encoding']).toBe('identity')
  })
})

describe('agents', () => {
  it('get the JSON-RPC error -32700 for a message that is not UTF-8', async () => {
    const { access_token: token } = await getTokens(await createAgent(), await createHost())
    const send = (payload: Buffer, type = 'application/json') =>
      app.inject({
        method: 'POST',
        url: '/agent/mcp',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': type,
          accept: 'application/json, text/event-stream',
        },
        payload,
      })
    const call =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_validation_kit","arguments":{"query":"'
    for (const [name, bytes] of invalid) {
      const answer = await send(around(call, bytes, '"}}}'))
      expect(answer.statusCode, name).toBe(400)
      expect(answer.json()).toEqual({
        jsonrpc: '2.0',
        error: { code: -32700, message: 'Parse error: must be UTF-8' },
        id: null,
      })
    }
    expect((await send(around(call, [0xc3, 0xa9], '"}}}'))).statusCode).toBe(200)
    const charset = 'application/json; charset=iso-8859-1'
    expectError(await send(around(call, [], '"}}}'), charset), errors.unsupportedMediaType)
  })

  it.each(['/agent/oauth/token', '/agent/oauth/revoke'])(
    'get invalid_request for a form at %s that is not UTF-8, malformed or in another charset',
    async (url) => {
      const send = (payload: Buffer | string, type = form['content-type']) =>
        app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
      for (const payload of [around('token=', [0xe9], ''), 'token=%E9', 'token=%zz']) {
        const answer = await send(payload)
        expect(answer.statusCode).toBe(400)
        expect(answer.json()).toEqual({
          error: 'invalid_request',
          error_description: expect.stringContaining('UTF-8') as string,
        })
      }
      const answer = await send('token=x', `${form['content-type']}; charset=utf-16`)
      expect(answer.statusCode).toBe(415)
      expect(answer.json()).toMatchObject({ error: 'invalid_request' })
    },
  )

  it('get invalid_request for an authorization request that is malformed', async () => {
    const answer = await app.inject({ url: '/agent/oauth/authorize?client_id=x&state=%E9' })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      error: 'invalid_request',
      error_description: 'state must be percent-encoded UTF-8.',
    })
  })

  it('get invalid_client_metadata for a registration that is not UTF-8', async () => {
    const payload = around(
      '{"redirect_uris":["https://agent.example/callback"],"client_name":"',
      [0xe9],
      '"}',
    )
    const answer = await app.inject({ method: 'POST', url: '/agent/oauth/register', headers: json, payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.json()).toEqual({
      error: 'invalid_client_metadata',
      error_description: 'The request must be UTF-8.',
    })
  })
})

describe('a form of the website', () => {
  it('is refused when it is not UTF-8 or malformed, and nothing is stored', async () => {
    const person = await createPerson()
    const ada = await signInAs(service, person)
    await ada.get('/settings/profile')
    const token = csrfTokenOf(ada.page())
    const before = await nameOf(person.id)
    const send = (name: Buffer | string) =>
      app.inject({
        method: 'POST',
        url: '/settings/profile',
        headers: { ...form, accept: 'text/html', cookie: cookiesOf(ada) },
        payload: Buffer.concat([Buffer.from(`_csrf=${token}&name=`), Buffer.from(name)]),
      })
    for (const name of ['Ad%E9', 'Ad%zz', Buffer.from([0x41, 0xe9])]) {
      const answer = await send(name)
      expect(answer.statusCode).toBe(400)
      expect(answer.headers['content-type']).toContain('text/html')
    }
    expect(await nameOf(person.id)).toBe(before)
    expect((await send('Ad%C3%A9+B%2B')).statusCode).toBe(303)
    expect(await nameOf(person.id)).toBe('Adé B+')
  })
})

it('a method that is none gets a standard reason phrase', async () => {
  const socket = connect(port, '127.0.0.1')
  socket.write('get /v1/me HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const chunks = await socket.toArray()
  expect(Buffer.concat(chunks as Buffer[]).toString()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
})
