import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createApiKeySecret } from '../../src/kernel/tokens.ts'
import { eventually } from '../support/eventually.ts'
import { listen, sendRaw } from '../support/raw-http.ts'
import { clone, startTestApp } from '../support/test-app.ts'

interface LogLine {
  level: number
  msg: string
  requestId?: string
  operationId?: string
  method?: string
  route?: string
  status?: number
  durationMs?: number
  userId?: string
  apiKeyId?: string
}

const parse = (lines: string[]) => lines.map((line) => JSON.parse(line) as LogLine)

describe('the log line of a request', () => {
  it('logs the operation, the route, the status, the duration, the user and the API key', async () => {
    const { as, createPerson, log } = await startTestApp()
    const person = await createPerson()
    const requests: [InjectOptions, string, string, number][] = [
      [{ url: '/v1/me' }, 'me.profile', '/v1/me', 200],
      [{ method: 'PATCH', url: '/v1/me', payload: {} }, 'me.updateProfile', '/v1/me', 400],
      [
        { method: 'POST', url: '/v1/api-keys/nonsense/revoke' },
        'apiKeys.revoke',
        '/v1/api-keys/:apiKeyId/revoke',
        404,
      ],
    ]
    for (const [request, operationId, route, status] of requests) {
      const answer = await as(person, request)
      const lines = parse(log).filter((line) => line.requestId === answer.headers['x-request-id'])
      expect(lines).toEqual([
        expect.objectContaining({
          level: 30,
          msg: 'request completed',
          operationId,
          method: request.method ?? 'GET',
          route,
          status,
          durationMs: expect.any(Number) as number,
          userId: person.id,
          apiKeyId: person.apiKeyId,
        }),
      ])
      expect(lines[0]?.durationMs).toBeGreaterThan(0)
    }
  })

  it('logs neither user nor API key when the request is not authenticated', async () => {
    const { app, log } = await startTestApp()
    const expected: [string, number, string | undefined][] = [
      ['/health', 200, 'system.health'],
      ['/v1/me', 401, 'me.profile'],
      ['/v1/nowhere', 404, undefined],
      ['/%zz', 400, undefined],
    ]
    for (const [url, status, operationId] of expected) {
      const answer = await app.inject({ url, headers: { 'x-api-key': 'nonsense' } })
      const lines = parse(log).filter((line) => line.requestId === answer.headers['x-request-id'])
      expect(lines).toHaveLength(1)
      expect(lines[0]).toMatchObject({ msg: 'request completed', status, method: 'GET' })
      expect(lines[0]?.operationId).toBe(operationId)
      expect(lines[0]).not.toHaveProperty('userId')
      expect(lines[0]).not.toHaveProperty('apiKeyId')
    }
  })

  it('logs one line for each of 25 concurrent requests', async () => {
    const { as, createPerson, log } = await startTestApp()
    const person = await createPerson()
    const answers = await Promise.all(Array.from({ length: 25 }, () => as(person, { url: '/v1/me' })))
    const completed = parse(log).filter((line) => line.msg === 'request completed')
    expect(completed.map((line) => line.requestId).toSorted()).toEqual(
      answers.map((answer) => String(answer.headers['x-request-id'])).toSorted(),
    )
  })
})

describe('the log', () => {
  it('logs no API key, wherever the client sent it', async () => {
    const { app, as, createPerson, db, log, close } = await startTestApp({
      environment: {
        DATABASE_URL: await clone(),
        RATE_LIMIT_PER_MINUTE: '1000',
        BAD_KEY_LIMIT_PER_MINUTE: '1000',
      },
    })
    const port = await listen(app)
    const person = await createPerson()
    const created = (
      await as(person, {
        method: 'POST',
        url: '/v1/api-keys',
        headers: { 'idempotency-key': 'logged' },
        payload: { name: 'Second' },
      })
    ).json<{ id: string; secret: string }>()
    await as(person, {
      method: 'POST',
      url: '/v1/api-keys',
      headers: { 'idempotency-key': 'logged' },
      payload: { name: 'Second' },
    })
    const unknown = createApiKeySecret('wsk').secret
    const malformed = `${unknown.slice(0, -1)}${unknown.endsWith('x') ? 'y' : 'x'}`
    const keys = [person.apiKey, created.secret, unknown, malformed]

    for (const key of keys) {
      const requests: InjectOptions[] = [
        { url: '/v1/me', headers: { authorization: `Bearer ${key}` } },
        { url: '/v1/me', headers: { 'x-api-key': key } },
        { url: '/v1/me', headers: { authorization: `Basic ${key}` } },
        { url: '/v1/me', headers: { authorization: key } },
        { url: `/v1/me?api_key=${key}` },
        { url: `/v1/me?api_key=${key}`, headers: { 'x-api-key': key } },
        { url: `/v1/${key}` },
        { url: `/${key}`, headers: { 'x-api-key': key } },
        { url: `/%zz/${key}` },
        { url: `/health/${key}?${key}=${key}#${key}` },
        { method: 'POST', url: `/v1/api-keys/${key}/revoke`, headers: { 'x-api-key': key } },
        {
          url: '/health',
          headers: { referer: `https://example.com/${key}`, 'user-agent': key, cookie: key },
        },
        { url: '/v1/me', headers: { 'x-request-id': key, 'idempotency-key': key, host: key } },
        {
          method: 'POST',
          url: '/v1/api-keys',
          headers: { 'x-api-key': key, 'idempotency-key': key },
          payload: { name: key, [key]: key },
        },
        {
          method: 'POST',
          url: '/v1/api-keys',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          payload: `{"name":"${key}"`,
        },
        {
          method: 'POST',
          url: '/v1/api-keys',
          headers: { 'x-api-key': key, 'content-type': key },
          payload: key,
        },
      ]
      for (const request of requests) await app.inject(request)
      await sendRaw(port, `${key}\r\n\r\n`)
      await sendRaw(port, `GET /v1/me HTTP/1.1\r\nX-API-Key: ${key}\r\nContent-Length: x\r\n\r\n`)
    }
    await as(person, { method: 'POST', url: `/v1/api-keys/${created.id}/revoke` })
    await app.inject({ url: '/v1/me', headers: { 'x-api-key': created.secret } })
    // A server in trouble tells more than one that is well.
    await db.execute(sql`alter table api_keys rename column last_four to last_4`)
    await as(person, { method: 'POST', url: '/v1/api-keys', payload: { name: 'Third' } })
    await db.execute(sql`alter table users rename to people`)
    await as(person, { url: '/v1/me' })
    await close()

    const text = log.join('')
    expect(log.length).toBeGreaterThan(60)
    expect(text).toContain('Failed query')
    for (const key of keys) {
      const hash = createHash('sha256').update(key).digest()
      const traces = [key, key.slice(4, 34), hash.toString('hex'), hash.toString('base64')]
      // A Buffer that is serialized is a list of its bytes.
      traces.push(JSON.stringify([...hash]).slice(1, -1))
      for (const trace of traces) expect(text.includes(trace), trace).toBe(false)
    }
  })

  it('logs no statement parameters when the database fails', async () => {
    const { as, createPerson, db, log } = await startTestApp({
      environment: { DATABASE_URL: await clone() },
    })
    const person = await createPerson({ name: 'Private Name' })
    await db.execute(sql`alter table users add constraint no_more check (name <> 'Very Private') not valid`)
    const answer = await as(person, { method: 'PATCH', url: '/v1/me', payload: { name: 'Very Private' } })
    expect(answer.statusCode).toBe(500)

    const lines = parse(log).filter((line) => line.requestId === answer.headers['x-request-id'])
    expect(lines.map((line) => line.msg)).toEqual(['request failed', 'request completed'])
    expect(lines[0]).toMatchObject({
      level: 50,
      err: {
        message: expect.stringMatching(/^Failed query: update "users" set "name" = \$1/) as string,
        cause: { code: '23514', constraint: 'no_more' },
      },
    })
    const text = log.join('')
    for (const value of ['Very Private', 'Private Name', person.email]) expect(text).not.toContain(value)
  })
})

describe('lastUsedAt when the database fails', () => {
  it('logs the failure, and writes lastUsedAt when the database works again', async () => {
    const { as, close, createPerson, db, log } = await startTestApp({
      environment: { DATABASE_URL: await clone() },
    })
    const person = await createPerson()
    await db.execute(sql`alter table api_keys rename column last_used_at to used_at`)
    expect((await as(person, { url: '/v1/me' })).statusCode).toBe(200)
    const message = 'the last uses of API keys could not be written; will retry'
    await eventually(() => expect(parse(log).map((line) => line.msg)).toContain(message))
    await db.execute(sql`alter table api_keys rename column used_at to last_used_at`)
    const findUse = async () => {
      const { rows } = await db.execute(sql`select last_used_at from api_keys where id = ${person.apiKeyId}`)
      return rows[0]?.last_used_at
    }
    await eventually(async () => expect(await findUse()).not.toBeNull())
    await close()
  })
})

describe('the trace of a request', () => {
  it('is in the lines of the request, if it has a valid traceparent', async () => {
    const { app, log } = await startTestApp()
    const id = '4bf92f3577b34da6a3ce929d0e0e4736'
    const headers: [traceparent: string, traceId: string | undefined][] = [
      [`00-${id}-00f067aa0ba902b7-01`, id],
      // A later version may have more behind the flags.
      [`cc-${id}-00f067aa0ba902b7-01-more`, id],
      [`00-${id}-00f067aa0ba902b7-01-more`, undefined],
      [`ff-${id}-00f067aa0ba902b7-01`, undefined],
      [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
      [`00-${id}-${'0'.repeat(16)}-01`, undefined],
      [`00-${id.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
      [`00-${id}`, undefined],
      ['{"injected":"line"}', undefined],
    ]
    for (const [traceparent, traceId] of headers) {
      const answer = await app.inject({ url: '/health', headers: { traceparent } })
      const lines = log.map((line) => JSON.parse(line) as { requestId?: string; traceId?: string })
      const own = lines.filter(({ requestId }) => requestId === answer.headers['x-request-id'])
      expect(own.map((line) => line.traceId)).toEqual([traceId])
    }
  })
})
