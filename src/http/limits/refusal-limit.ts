import type { FastifyRequest } from 'fastify'
import type { ErrorFactory } from '../../kernel/errors.ts'
import type { App } from '../app-types.ts'
import { addressOf, createRateLimiter } from './rate-limits.ts'
import { createRecentCallers } from './recent-callers.ts'

/**
 * Limits requests with a bad credential for each client address. Addresses from which a good one came recently
 * are exempt: another client behind the same address must not lock out its owner.
 */
export interface RefusalLimit {
  /** Is called before a credential is verified, so that guessing costs no query. Throws the error of the limit. */
  assertFew(request: FastifyRequest): Promise<void>
  countRefused(request: FastifyRequest): Promise<void>
  noteAccepted(request: FastifyRequest): void
}

const hourMs = 60 * 60 * 1000
const goodAddressesMax = 10_000

/**
 * Creates a limit of `max` refused requests a minute for each client address; 0 = no limit. `exemptMs`: how long an address is
 * exempt after a good credential.
 */
export function createRefusalLimit(
  app: App,
  {
    name,
    max,
    exceeded,
    exemptMs = hourMs,
  }: { name: string; max: number; exceeded: ErrorFactory; exemptMs?: number },
): RefusalLimit {
  const limiter = createRateLimiter(app, { name, max, windowSeconds: 60, callerOf: addressOf })
  const goodAddresses = createRecentCallers({ windowMs: exemptMs, max: goodAddressesMax })
  return {
    async assertFew(request) {
      const state = await limiter?.peek(request)
      if (!state?.isExceeded || goodAddresses.has(addressOf(request))) return
      app.meter.badCredential(name, 'limited')
      throw exceeded({ retryAfterSeconds: state.resetSeconds })
    },
    async countRefused(request) {
      app.meter.badCredential(name, 'refused')
      await limiter?.count(request)
    },
    noteAccepted: (request) => goodAddresses.add(addressOf(request)),
  }
}
