import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { startTestApp } from '../support/test-app.ts'

const { app, as, createPerson } = await startTestApp()
const person = await createPerson()

const origin = 'https://app.example.com'
const preflight = (url: string, method: string): InjectOptions => ({
  method: 'OPTIONS',
  url,
  headers: {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type,idempotency-key',
  },
})

describe('response headers', () => {
  it.each([
    ['a success', { url: '/v1/me' }, 200],
    ['a public route', { url: '/health' }, 200],
    ['the OpenAPI document', { url: '/openapi.json' }, 200],
    ['an invalid body', { method: 'PATCH', url: '/v1/me', payload: {} }, 400],
    ['an unknown route', { url: '/v1/nowhere' }, 404],
    ['an unknown id', { method: 'POST', url: '/v1/api-keys/x/revoke' }, 404],
    ['a URL over 8 KiB', { url: `/health?${'x'.repeat(9_000)}` }, 413],
  ] as [string, InjectOptions, number][])(
    'returns a request id and the security headers with every response: %s',
    async (_name, request, status) => {
      const answer = await as(person, request)
      expect(answer.statusCode).toBe(status)
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
      expect(answer.headers['x-content-type-options']).toBe('nosniff')
      expect(answer.headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'")
      expect(answer.headers['x-frame-options']).toBe('DENY')
      expect(answer.headers['referrer-policy']).toBe('no-referrer')
      expect(answer.headers).not.toHaveProperty('x-powered-by')
      expect(answer.headers).not.toHaveProperty('server')
    },
  )

  it('returns a new request id, whatever the client sends', async () => {
    const headers = { 'x-request-id': 'chosen', 'request-id': 'chosen' }
    const ids = [
      await as(person, { url: '/v1/me', headers }),
      await as(person, { url: '/v1/me', headers }),
    ].map((answer) => answer.headers['x-request-id'])
    expect(new Set(ids).size).toBe(2)
    expect(ids).not.toContain('chosen')
  })

  it.each(['/v1/me/onboarding', '/v1/api-keys'])('forbids caching of %s', async (url) => {
    expect((await as(person, { url })).headers['cache-control']).toBe('private, no-store')
    expect((await app.inject(url)).headers['cache-control']).toBe('private, no-store')
  })

  it('lets only the caller keep what has a tag, and lets nobody keep an error', async () => {
    expect((await as(person, { url: '/v1/me' })).headers['cache-control']).toBe('private, no-cache')
    expect((await app.inject('/v1/me')).headers['cache-control']).toBe('private, no-store')
  })

  it('returns Strict-Transport-Security only when BASE_URL is https', async () => {
    expect((await app.inject('/health')).headers).not.toHaveProperty('strict-transport-security')
    const secure = await startTestApp({ environment: { BASE_URL: 'https://api.example.com' } })
    const answer = await secure.app.inject('/health')
    expect(answer.headers['strict-transport-security']).toMatch(/^max-age=\d{8,}$/)
  })
})

describe('HEAD', () => {
  it('returns the status and headers of GET, without a body', async () => {
    const get = await as(person, { url: '/v1/me' })
    const head = await as(person, { method: 'HEAD', url: '/v1/me' })
    expect(head.statusCode).toBe(200)
    expect(head.body).toBe('')
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
    expect((await app.inject({ method: 'HEAD', url: '/v1/me' })).statusCode).toBe(401)
  })
})

describe('CORS', () => {
  it('lets any origin call without cookies, and read the headers that clients need', async () => {
    const answer = await as(person, { url: '/v1/me', headers: { origin } })
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
    expect(String(answer.headers['access-control-expose-headers']).split(', ')).toEqual(
      expect.arrayContaining(['X-Request-Id', 'Retry-After', 'RateLimit', 'Idempotent-Replayed']),
    )
  })

  it.each([
    ['/v1/me', 'PATCH'],
    ['/v1/api-keys', 'POST'],
    ['/v1/api-keys/x/revoke', 'POST'],
    ['/v1/api-keys/x/restrictions', 'PUT'],
  ])('returns 204 to a preflight request without a key: %s %s', async (url, method) => {
    const answer = await app.inject(preflight(url, method))
    expect(answer.statusCode).toBe(204)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(String(answer.headers['access-control-allow-methods']).split(', ')).toContain(method)
    expect(answer.headers['access-control-allow-headers']).toBe('authorization,content-type,idempotency-key')
  })

  it('lets any origin read error responses', async () => {
    for (const url of ['/v1/me', '/v1/nowhere']) {
      const answer = await app.inject({ url, headers: { origin } })
      expect(answer.statusCode).toBeGreaterThanOrEqual(401)
      expect(answer.headers['access-control-allow-origin']).toBe('*')
    }
  })

  it('lets only the origins in CORS_ORIGINS call when it is set', async () => {
    const listed = await startTestApp({
      environment: { CORS_ORIGINS: `${origin}, https://other.example.com` },
    })
    const call = (from: string) => listed.app.inject({ url: '/health', headers: { origin: from } })
    expect((await call(origin)).headers['access-control-allow-origin']).toBe(origin)
    expect((await call('https://evil.example.com')).headers).not.toHaveProperty('access-control-allow-origin')
    expect((await call(origin)).headers.vary).toContain('Origin')
  })
})
