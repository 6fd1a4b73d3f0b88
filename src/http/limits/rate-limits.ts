import { isIP } from 'node:net'
import fastifyRateLimit, { normalizeIP, type FastifyRateLimitStore } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import type { App } from '../app-types.ts'

/** The state of one caller's window. */
export interface RateLimitState {
  max: number
  remaining: number
  resetSeconds: number
  isExceeded: boolean
}

/** Counts requests in fixed windows. */
export interface RateLimiter {
  /** Counts a request. */
  count(request: FastifyRequest): Promise<RateLimitState>
  /** Returns the state without counting. */
  peek(request: FastifyRequest): Promise<RateLimitState>
  /** Ends the caller's window, in all processes. While Redis is unavailable, only in this one. */
  clear(request: FastifyRequest): Promise<void>
}

/**
 * Registers the rate limiter. With Redis, replicas share their counters. While Redis is unavailable, each process counts
 * by itself; the Redis client logs that.
 */
export async function registerRateLimits(app: App, redis: Redis | undefined): Promise<void> {
  await app.register(fastifyRateLimit, {
    global: false,
    store: redis ? createSharedStore(redis) : MemoryStore,
  })
}

/** Creates a limiter of `max` requests in each window, or none if `max` is 0. */
export function createRateLimiter(
  app: App,
  options: {
    name: string
    max: number
    windowSeconds: number
    callerOf: (request: FastifyRequest) => string
  },
): RateLimiter | undefined {
  const { name, max, windowSeconds, callerOf } = options
  if (max === 0) return undefined
  const keyGenerator = (request: FastifyRequest) => `${name}:${callerOf(request)}`
  const limit = app.createRateLimit({ max, timeWindow: windowSeconds * 1000, keyGenerator })
  const run = async (request: FastifyRequest, increment: boolean): Promise<RateLimitState> => {
    const result = await limit(request, { increment })
    // The library allows requests without counting only by an allow list, which is not configured.
    if (result.isAllowed) throw new Error('a limiter without an allow list allowed without counting')
    const isExceeded = increment ? result.isExceeded : result.remaining === 0
    if (isExceeded) app.meter.limitMet(name)
    return { max, remaining: result.remaining, resetSeconds: result.ttlInSeconds, isExceeded }
  }
  return {
    count: (request) => run(request, true),
    peek: (request) => run(request, false),
    clear: async (request) => storeOf.get(keyGenerator)?.clear(keyGenerator(request)),
  }
}

interface ClearedStore extends FastifyRateLimitStore {
  clear(caller: string): Promise<void>
}

/** The store of each limiter by its `keyGenerator`: the library can only count and read. */
const storeOf = new WeakMap<object, ClearedStore>()

type ChildOptions = Parameters<FastifyRateLimitStore['child']>[0]

function remember<Store extends ClearedStore>(options: ChildOptions, store: Store): Store {
  // The options of the limiter; the types of the library say that they are those of a route.
  const { keyGenerator } = options as { keyGenerator?: object }
  if (keyGenerator) storeOf.set(keyGenerator, store)
  return store
}

/** Sends the RateLimit headers of draft-ietf-httpapi-ratelimit-headers-10. */
export function sendRateLimitHeaders(
  reply: FastifyReply,
  name: string,
  windowSeconds: number,
  { max, remaining, resetSeconds }: RateLimitState,
): void {
  void reply.header('ratelimit-policy', `"${name}";q=${max};w=${windowSeconds}`)
  void reply.header('ratelimit', `"${name}";r=${remaining};t=${resetSeconds}`)
}

/**
 * The client address that limits count. An IPv6 /64, the usual prefix of one subscriber, counts as one address. Proxies
 * may pass on what a client has sent as `X-Forwarded-For`: what is no address counts as the address of the proxy.
 */
export function addressOf({ ip, socket }: FastifyRequest): string {
  // Some proxies add the port.
  const [, v6, v4] = /^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(ip) ?? []
  const address = v6 ?? v4 ?? ip
  return normalizeIP(isIP(address) === 0 ? (socket.remoteAddress ?? '') : address)
}

type CountCallback = Parameters<FastifyRateLimitStore['incr']>[1]

// Large enough that an attacker with many addresses does not evict the counters of others.
const countersMax = 100_000

/**
 * Counts in memory. The library's own store passes the counter object instead of its value: of the requests of one turn
 * of the event loop each would see the final count, and all would be refused if one exceeds the limit.
 *
 * By the monotonic clock: a system clock that is set back would keep windows open.
 */
class MemoryStore implements ClearedStore {
  readonly #windows = new Map<string, { startedAt: number; count: number }>()

  incr(caller: string, callback: CountCallback, windowMs: number): void {
    const now = performance.now()
    const window = this.#find(caller, windowMs, now) ?? this.#open(caller, now)
    window.count += 1
    callback(null, { current: window.count, ttl: restOf(window, windowMs, now) })
  }

  read(caller: string, callback: CountCallback, windowMs: number): void {
    const now = performance.now()
    const window = this.#find(caller, windowMs, now)
    callback(
      null,
      window ? { current: window.count, ttl: restOf(window, windowMs, now) } : { current: 0, ttl: 0 },
    )
  }

  async clear(caller: string): Promise<void> {
    this.#windows.delete(caller)
  }

  /** Each limiter has its own counters. */
  child(options: ChildOptions): MemoryStore {
    return remember(options, new MemoryStore())
  }

  #find(caller: string, windowMs: number, now: number) {
    const window = this.#windows.get(caller)
    return window && restOf(window, windowMs, now) > 0 ? window : undefined
  }

  #open(caller: string, now: number) {
    // The first entry is the oldest window.
    this.#windows.delete(caller)
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined && this.#windows.size >= countersMax) this.#windows.delete(oldest)
    const window = { startedAt: now, count: 0 }
    this.#windows.set(caller, window)
    return window
  }
}

/**
 * How long the window lasts, in milliseconds, never more than `windowMs`: the monotonic clock has fractions, and
 * `startedAt + windowMs - now` may round to above it, which a header would state as one second more.
 */
function restOf(window: { startedAt: number }, windowMs: number, now: number): number {
  return windowMs - (now - window.startedAt)
}

/** Counts in a fixed window, which begins with its first request. Returns the count, and how long the window lasts. */
const countScript = `
  local count = redis.call('incr', KEYS[1])
  if count == 1 then redis.call('pexpire', KEYS[1], ARGV[1]) end
  return { count, redis.call('pttl', KEYS[1]) }`
const readScript = `return { tonumber(redis.call('get', KEYS[1]) or 0), math.max(redis.call('pttl', KEYS[1]), 0) }`

/**
 * Counts in Redis, and in memory while Redis does not answer. The library's own store would let all requests pass
 * meanwhile.
 */
function createSharedStore(redis: Redis) {
  redis.defineCommand('countInWindow', { numberOfKeys: 1, lua: countScript })
  redis.defineCommand('readWindow', { numberOfKeys: 1, lua: readScript })
  const { countInWindow, readWindow } = redis as unknown as Record<
    'countInWindow' | 'readWindow',
    (key: string, windowMs: number) => Promise<[current: number, ttl: number]>
  >

  return class SharedStore implements ClearedStore {
    readonly #local = new MemoryStore()

    incr(caller: string, callback: CountCallback, windowMs: number): void {
      countInWindow.call(redis, `rate-limit:${caller}`, windowMs).then(
        ([current, ttl]) => callback(null, { current, ttl }),
        () => this.#local.incr(caller, callback, windowMs),
      )
    }

    read(caller: string, callback: CountCallback, windowMs: number): void {
      readWindow.call(redis, `rate-limit:${caller}`, windowMs).then(
        ([current, ttl]) => callback(null, { current, ttl }),
        () => this.#local.read(caller, callback, windowMs),
      )
    }

    async clear(caller: string): Promise<void> {
      await this.#local.clear(caller)
      // Without Redis the window there lasts on, and is not used.
      await redis.del(`rate-limit:${caller}`).catch(() => undefined)
    }

    /** Each limiter has its own counters: the names of limiters are part of the callers. */
    child(options: ChildOptions): SharedStore {
      return remember(options, new SharedStore())
    }
  }
}
