import fastifyRateLimit, { normalizeIP, type FastifyRateLimitStore } from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Redis } from 'ioredis'
import type { App } from './app-types.ts'

/** What a limiter knows of its caller after counting or looking. */
export interface RateLimitState {
  max: number
  remaining: number
  resetSeconds: number
  isExceeded: boolean
}

/** Counts requests in fixed windows. */
export interface RateLimiter {
  /** Counts one more. */
  count(request: FastifyRequest): Promise<RateLimitState>
  /** Looks without counting. */
  peek(request: FastifyRequest): Promise<RateLimitState>
}

/**
 * Makes limiters available. With Redis all replicas count together; while it is away nothing is counted and every
 * request passes (the client logs that), since a limit is worth less than the service.
 */
export async function registerRateLimits(app: App, redis: Redis | undefined): Promise<void> {
  await app.register(fastifyRateLimit, {
    global: false,
    skipOnError: true,
    nameSpace: 'rate-limit:',
    ...(redis ? { redis } : { store: MemoryStore }),
  })
}

/** Makes a limiter of `max` requests in each window, or none at all when `max` is 0. */
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
  const limit = app.createRateLimit({
    max,
    timeWindow: windowSeconds * 1000,
    keyGenerator: (request) => `${name}:${callerOf(request)}`,
  })
  const run = async (request: FastifyRequest, increment: boolean): Promise<RateLimitState> => {
    const result = await limit(request, { increment })
    // Only an allow list, which there is none of, makes the library answer without counting.
    if (result.isAllowed) throw new Error('a limiter without an allow list allowed without counting')
    return {
      max,
      remaining: result.remaining,
      resetSeconds: result.ttlInSeconds,
      isExceeded: increment ? result.isExceeded : result.remaining === 0,
    }
  }
  return { count: (request) => run(request, true), peek: (request) => run(request, false) }
}

/** Tells the client where it stands (the RateLimit header fields of draft-ietf-httpapi-ratelimit-headers-10). */
export function sendRateLimitHeaders(
  reply: FastifyReply,
  name: string,
  windowSeconds: number,
  { max, remaining, resetSeconds }: RateLimitState,
): void {
  void reply.header('ratelimit-policy', `"${name}";q=${max};w=${windowSeconds}`)
  void reply.header('ratelimit', `"${name}";r=${remaining};t=${resetSeconds}`)
}

/** The client's address as limits count it: an IPv6 /64, which is what one subscriber is given, counts as one. */
export function addressOf(request: FastifyRequest): string {
  return normalizeIP(request.ip)
}

type CountCallback = Parameters<FastifyRateLimitStore['incr']>[1]

// Enough for an attacker not to push out the counters of others by using many addresses.
const countersMax = 100_000

/**
 * Counts in memory. The library's own store hands out the counter itself, not its value: of requests counted in one
 * turn of the event loop each sees the count of the last, and all are refused when one is too many.
 */
class MemoryStore implements FastifyRateLimitStore {
  readonly #windows = new Map<string, { startedAt: number; count: number }>()

  incr(caller: string, callback: CountCallback, windowMs: number): void {
    const now = Date.now()
    const window = this.#find(caller, windowMs, now) ?? this.#open(caller, now)
    window.count += 1
    callback(null, { current: window.count, ttl: window.startedAt + windowMs - now })
  }

  read(caller: string, callback: CountCallback, windowMs: number): void {
    const now = Date.now()
    const window = this.#find(caller, windowMs, now)
    callback(
      null,
      window ? { current: window.count, ttl: window.startedAt + windowMs - now } : { current: 0, ttl: 0 },
    )
  }

  /** Each limiter counts by itself. */
  child(): MemoryStore {
    return new MemoryStore()
  }

  #find(caller: string, windowMs: number, now: number) {
    const window = this.#windows.get(caller)
    return window && now < window.startedAt + windowMs ? window : undefined
  }

  #open(caller: string, now: number) {
    // In the order in which the windows began: the first one is the oldest.
    this.#windows.delete(caller)
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined && this.#windows.size >= countersMax) this.#windows.delete(oldest)
    const window = { startedAt: now, count: 0 }
    this.#windows.set(caller, window)
    return window
  }
}
