import { describe, expect, it, vi } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createApiKeySecret } from '../../src/kernel/tokens.ts'
import { countQueries } from '../support/count-queries.ts'
import { expectError } from '../support/expect-error.ts'
import { profile, repeat, sendBadKey } from '../support/rate-limits.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

describe('the rate limit of an API key', async () => {
  const limited = await startTestApp({ environment: { RATE_LIMIT_PER_MINUTE: '5' } })
  const { as, createPerson, app } = limited

  it('returns the RateLimit headers with every response', async () => {
    const person = await createPerson()
    const answers = await repeat(5, () => as(person, profile))
    expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200, 200])
    expect(answers.map((answer) => answer.headers['ratelimit-policy'])).toEqual(
      answers.map(() => '"api-key";q=5;w=60'),
    )
    for (const [i, answer] of answers.entries()) {
      expect(answer.headers.ratelimit).toMatch(new RegExp(`^"api-key";r=${4 - i};t=(60|5\\d)$`))
      expect(answer.headers['retry-after']).toBeUndefined()
    }
  })

  it('reports no more than the window, whatever the fraction of the clock', async () => {
    const person = await createPerson()
    // Sums of fractions are rounded.
    const now = 1_000_000.1
    expect(now + 60_000 - now).toBeGreaterThan(60_000)
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now)
    try {
      expect((await as(person, profile)).headers.ratelimit).toBe('"api-key";r=4;t=60')
    } finally {
      clock.mockRestore()
    }
  })

  it('returns the RateLimit header with errors too', async () => {
    const person = await createPerson()
    const answer = await as(person, { method: 'POST', url: '/v1/api-keys', payload: {} })
    expect(answer.statusCode).toBe(400)
    expect(answer.headers.ratelimit).toMatch(/^"api-key";r=4;t=/)
  })

  it('returns 429 rate_limited with Retry-After above the limit, and changes nothing', async () => {
    const person = await createPerson({ name: 'Unchanged' })
    await repeat(5, () => as(person, profile))
    const answer = await as(person, { ...profile, method: 'PATCH', payload: { name: 'Changed' } })
    expectError(answer, errors.rateLimited)
    expect(answer.headers['ratelimit-policy']).toBe('"api-key";q=5;w=60')
    const [, reset] = /^"api-key";r=0;t=(\d+)$/.exec(String(answer.headers.ratelimit)) ?? []
    expect(answer.headers['retry-after']).toBe(reset)
    expect(Number(reset)).toBeGreaterThan(0)
    expect(Number(reset)).toBeLessThanOrEqual(60)
    expectError(await as(person, profile), errors.rateLimited)

    const unlimited = await startTestApp()
    expect((await unlimited.as(person, profile)).json()).toMatchObject({ name: 'Unchanged' })
  })

  it('counts concurrent requests', async () => {
    const person = await createPerson()
    const answers = await Promise.all(Array.from({ length: 12 }, () => as(person, profile)))
    const statuses = answers.map((answer) => answer.statusCode).toSorted((a, b) => a - b)
    expect(statuses).toEqual([...Array<number>(5).fill(200), ...Array<number>(7).fill(429)])
  })

  it('counts a key in either header, and each key separately', async () => {
    const [person, other] = [await createPerson(), await createPerson()]
    const second = (
      await as(person, { method: 'POST', url: '/v1/api-keys', payload: { name: 'Second' } })
    ).json<{ secret: string }>()
    await repeat(2, () => as(person, profile))
    await repeat(2, () => app.inject({ ...profile, headers: { 'x-api-key': person.apiKey } }))
    expectError(await as(person, profile), errors.rateLimited)
    expect((await as(other, profile)).headers.ratelimit).toMatch(/r=4;/)
    expect((await as({ apiKey: second.secret }, profile)).headers.ratelimit).toMatch(/r=4;/)
  })

  it('does not limit public routes', async () => {
    const answers = await repeat(7, () => app.inject('/health'))
    expect(answers.map((answer) => answer.statusCode)).toEqual(answers.map(() => 200))
    expect(answers[6]?.headers.ratelimit).toBeUndefined()
  })

  it('accepts requests again after a minute', async () => {
    const person = await createPerson()
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      await repeat(5, () => as(person, profile))
      expectError(await as(person, profile), errors.rateLimited)
      vi.advanceTimersByTime(60_001)
      expect((await as(person, profile)).headers.ratelimit).toMatch(/r=4;t=60$/)
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('the rate limit of bad keys', async () => {
  const limited = await startTestApp({ environment: { BAD_KEY_LIMIT_PER_MINUTE: '5' } })
  const { app, as, createPerson } = limited

  it('returns 429 to an address that guesses keys, without a database query', async () => {
    const answers = await repeat(5, () => sendBadKey(limited, '203.0.113.1'))
    for (const answer of answers) expectError(answer, errors.apiKeyRequired)
    const queries = await countQueries(async () => {
      const answer = await sendBadKey(limited, '203.0.113.1')
      expectError(answer, errors.tooManyBadKeys)
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60)
    })
    expect(queries).toBe(0)
  })

  it('does not count malformed keys, which cost no query', async () => {
    const remoteAddress = '203.0.113.2'
    const send = () =>
      app.inject({ ...profile, remoteAddress, headers: { authorization: 'Bearer nonsense' } })
    const queries = await countQueries(async () => {
      for (const answer of await repeat(10, send)) expectError(answer, errors.apiKeyRequired)
    })
    expect(queries).toBe(0)
    expectError(await sendBadKey(limited, remoteAddress), errors.apiKeyRequired)
  })

  it('does not block an address that has sent a good key within the last hour', async () => {
    const person = await createPerson()
    const [office, elsewhere] = ['203.0.113.7', '203.0.113.8']
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      expect((await as(person, { ...profile, remoteAddress: office })).statusCode).toBe(200)
      for (const remoteAddress of [office, elsewhere])
        await repeat(6, () => sendBadKey(limited, remoteAddress))
      expect((await as(person, { ...profile, remoteAddress: office })).statusCode).toBe(200)
      expectError(await as(person, { ...profile, remoteAddress: elsewhere }), errors.tooManyBadKeys)
      vi.advanceTimersByTime(60 * 60 * 1000)
      await repeat(6, () => sendBadKey(limited, office))
      expectError(await as(person, { ...profile, remoteAddress: office }), errors.tooManyBadKeys)
    } finally {
      vi.useRealTimers()
    }
  })

  it('returns 401 to a request without a key from a blocked address', async () => {
    await repeat(6, () => sendBadKey(limited, '203.0.113.3'))
    const send = () => app.inject({ ...profile, remoteAddress: '203.0.113.3' })
    for (const answer of await repeat(7, send)) expectError(answer, errors.apiKeyRequired)
  })

  it('does not count requests without a key or with a good key', async () => {
    const person = await createPerson()
    const remoteAddress = '203.0.113.4'
    await repeat(7, () => app.inject({ ...profile, remoteAddress }))
    const good = await repeat(7, () => as(person, { ...profile, remoteAddress }))
    expect(good.map((answer) => answer.statusCode)).toEqual(good.map(() => 200))
    expectError(await sendBadKey(limited, remoteAddress), errors.apiKeyRequired)
  })

  it('counts each address separately', async () => {
    await repeat(6, () => sendBadKey(limited, '203.0.113.5'))
    expectError(await sendBadKey(limited, '203.0.113.5'), errors.tooManyBadKeys)
    expectError(await sendBadKey(limited, '203.0.113.6'), errors.apiKeyRequired)
  })

  it('counts the IPv6 addresses of one /64 network together', async () => {
    const addresses = [1, 2, 3, 4, 5].map((i) => `2001:db8:1:1::${i}`)
    for (const address of addresses) expectError(await sendBadKey(limited, address), errors.apiKeyRequired)
    expectError(await sendBadKey(limited, '2001:db8:1:1:ffff::1'), errors.tooManyBadKeys)
    expectError(await sendBadKey(limited, '2001:db8:1:2::1'), errors.apiKeyRequired)
  })

  it('uses X-Forwarded-For only from a trusted proxy', async () => {
    const send = (target: TestApp, from: string) =>
      target.app.inject({
        ...profile,
        remoteAddress: '127.0.0.1',
        headers: { 'x-api-key': createApiKeySecret('wsk').secret, 'x-forwarded-for': from },
      })
    const direct = await startTestApp({ environment: { BAD_KEY_LIMIT_PER_MINUTE: '1' } })
    expectError(await send(direct, '203.0.113.10'), errors.apiKeyRequired)
    expectError(await send(direct, '203.0.113.11'), errors.tooManyBadKeys)

    const proxied = await startTestApp({
      environment: { BAD_KEY_LIMIT_PER_MINUTE: '1', TRUST_PROXY: 'loopback' },
    })
    expectError(await send(proxied, '203.0.113.10'), errors.apiKeyRequired)
    expectError(await send(proxied, '203.0.113.11'), errors.apiKeyRequired)
    expectError(await send(proxied, '203.0.113.10'), errors.tooManyBadKeys)
  })
})

describe('a rate limit of 0', () => {
  it('limits nothing, and returns no RateLimit headers', async () => {
    const unlimited = await startTestApp()
    const person = await unlimited.createPerson()
    const good = await repeat(20, () => unlimited.as(person, profile))
    expect(good.map((answer) => answer.statusCode)).toEqual(good.map(() => 200))
    expect(good[0]?.headers.ratelimit).toBeUndefined()
    expect(good[0]?.headers['ratelimit-policy']).toBeUndefined()
    const bad = await repeat(20, () => sendBadKey(unlimited, '203.0.113.20'))
    expect(bad.map((answer) => answer.statusCode)).toEqual(bad.map(() => 401))
  })
})

describe('the address in X-Forwarded-For', () => {
  it('compares addresses without their port, and uses the address of the proxy for a malformed one', async () => {
    const { app } = await startTestApp({
      environment: { TRUST_PROXY: 'loopback', BAD_KEY_LIMIT_PER_MINUTE: '3' },
    })
    const send = (forwardedFor: string) =>
      app.inject({
        ...profile,
        remoteAddress: '127.0.0.1',
        headers: { 'x-api-key': createApiKeySecret('wsk').secret, 'x-forwarded-for': forwardedFor },
      })
    for (const forms of [
      (i: number) => `203.0.113.40:${1000 + i}`,
      (i: number) => `[2001:db8::${i}]:${1000 + i}`,
      (i: number) => ['garbage-1', 'unknown, _hidden1', 'unknown', '203.0.113.1.9'][i - 1] ?? '',
    ]) {
      const answers = await Promise.all([1, 2, 3].map((i) => send(forms(i))))
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401])
      expectError(await send(forms(4)), errors.tooManyBadKeys)
    }
  })
})
