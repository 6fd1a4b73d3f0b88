import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { commandMsDefault } from '../../src/platform/redis.ts'
import { countQueries } from '../support/count-queries.ts'
import { eventually } from '../support/eventually.ts'
import { expectError } from '../support/expect-error.ts'
import { profile, repeat, sendBadKey } from '../support/rate-limits.ts'
import { hasRedisServer, startRedisServer } from '../support/redis-server.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

describe.skipIf(!hasRedisServer)(
  hasRedisServer ? 'with Redis' : 'with Redis (skipped: there is no redis-server on PATH)',
  () => {
    let redis: Awaited<ReturnType<typeof startRedisServer>>
    beforeAll(async () => {
      redis = await startRedisServer()
    })
    afterAll(() => redis.kill())

    const start = async ({ limit = 5, ...options }: { limit?: number; redisCommandMsMax?: number } = {}) => {
      const replica = await startTestApp({
        ...options,
        environment: {
          REDIS_URL: redis.url,
          RATE_LIMIT_PER_MINUTE: String(limit),
          BAD_KEY_LIMIT_PER_MINUTE: '5',
        },
      })
      await waitForRedis(replica)
      return replica
    }

    const waitForRedis = ({ services }: TestApp) =>
      eventually(() => expect(services.redis?.status).toBe('ready'))

    it('counts the requests of a key over all replicas', async () => {
      const [one, other] = [await start(), await start()]
      const person = await one.createPerson()
      await repeat(3, () => one.as(person, profile))
      const answers = await repeat(2, () => other.as(person, profile))
      expect(answers.map((answer) => answer.headers.ratelimit)).toEqual([
        expect.stringMatching(/^"api-key";r=1;t=(60|5\d)$/),
        expect.stringMatching(/^"api-key";r=0;t=(60|5\d)$/),
      ])
      const refused = await one.as(person, profile)
      expectError(refused, errors.rateLimited)
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
      expectError(await other.as(person, profile), errors.rateLimited)
      expect((await other.as(await one.createPerson(), profile)).statusCode).toBe(200)
    })

    it('counts bad keys over all replicas', async () => {
      const [one, other] = [await start(), await start()]
      await repeat(3, () => sendBadKey(one, '203.0.113.30'))
      await repeat(2, () => sendBadKey(other, '203.0.113.30'))
      for (const replica of [one, other]) {
        const queries = await countQueries(async () => {
          expectError(await sendBadKey(replica, '203.0.113.30'), errors.tooManyBadKeys)
        })
        expect(queries).toBe(0)
      }
    })

    it('uses Redis keys that name the limit and the caller', async () => {
      const replica = await start()
      const person = await replica.createPerson()
      await replica.as(person, profile)
      await sendBadKey(replica, '203.0.113.32')
      // A busy machine may need several tries to answer in time.
      const keys = await eventually(() => replica.services.redis?.keys('*'))
      expect(keys).toContain(`rate-limit:api-key:${person.apiKeyId}`)
      expect(keys).toContain('rate-limit:bad-key:203.0.113.32')
      expect(
        keys?.filter((key) => !/^rate-limit:[a-z-]+:[^:]/.test(key) || key.includes('undefined')),
      ).toEqual([])
    })

    it('counts in each process while Redis is down, logs one warning, and shares the limits afterwards', async () => {
      const replica = await start()
      const person = await replica.createPerson()
      await repeat(6, () => replica.as(person, profile))
      expectError(await replica.as(person, profile), errors.rateLimited)

      let attempts = 0
      replica.services.redis?.on('reconnecting', () => (attempts += 1))
      await redis.kill()
      const during = await repeat(6, () => replica.as(person, profile))
      expect(during.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200, 200, 429])
      const bad = await repeat(6, () => sendBadKey(replica, '203.0.113.31'))
      expect(bad.map((answer) => answer.statusCode)).toEqual([401, 401, 401, 401, 401, 429])
      const linesWith = (text: string) => replica.log.filter((line) => line.includes(text))
      // Several attempts to connect fail in the meantime.
      await eventually(() => expect(attempts).toBeGreaterThan(2))
      await eventually(() => expect(linesWith('redis is unavailable')).toHaveLength(1))

      redis = await startRedisServer(redis.port)
      await waitForRedis(replica)
      await repeat(5, () => replica.as(person, profile))
      expectError(await replica.as(person, profile), errors.rateLimited)
      expect(linesWith('redis is unavailable')).toHaveLength(1)
      expect(linesWith('redis is available')).toHaveLength(1)
    })

    it('counts in each process while Redis does not respond, and shares the limits afterwards', async () => {
      const limit = 100_000
      const redisCommandMsMax = commandMsDefault
      const [replica, other] = [
        await start({ limit, redisCommandMsMax }),
        await start({ limit, redisCommandMsMax }),
      ]
      const person = await replica.createPerson()
      const countOf = async (asked: TestApp) =>
        limit - Number(/r=(\d+)/.exec(String((await asked.as(person, profile)).headers.ratelimit))?.[1])
      const linesWith = (text: string) => replica.log.filter((line) => line.includes(text))
      redis.freeze()
      onTestFinished(() => redis.thaw())
      // As often as it takes to find out.
      await eventually(async () => {
        expect((await replica.as(person, profile)).statusCode).toBe(200)
        expect(linesWith('redis is unavailable')).toHaveLength(1)
      })
      const counted = await repeat(3, () => countOf(replica))
      expect(counted.map((count) => count - Number(counted[0]))).toEqual([0, 1, 2])
      // Nothing is asked of it.
      expect(replica.services.redis?.status).not.toBe('ready')
      redis.thaw()
      await waitForRedis(replica)
      await waitForRedis(other)
      await eventually(async () => {
        const [shared, next] = [await countOf(replica), await countOf(other)]
        expect(next).toBe(shared + 1)
      })
      expect(linesWith('redis is unavailable')).toHaveLength(1)
      expect(linesWith('redis is available')).toHaveLength(1)
    })

    it('starts and serves requests while Redis is down', async () => {
      const away = await startRedisServer()
      await away.kill()
      const replica = await startTestApp({
        environment: { REDIS_URL: away.url, RATE_LIMIT_PER_MINUTE: '5', BAD_KEY_LIMIT_PER_MINUTE: '5' },
      })
      const person = await replica.createPerson()
      const answers = await repeat(6, () => replica.as(person, profile))
      expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200, 200, 429])
    })
  },
)
