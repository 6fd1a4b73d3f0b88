import type { FastifyRequest } from 'fastify'
import type { ErrorFactory } from '../../kernel/errors.ts'
import type { App } from '../app-types.ts'
import { addressOf, createRateLimiter } from './rate-limits.ts'
import { createRecentCallers } from './recent-callers.ts'

/**
 * Limits requests with a bad credential for each client address. Addresses from which a good one came within the last
 * hour are exempt: another client behind the same address must not lock out its owner.
 */
export interface RefusalLimit {
  /** Is called before a credential is verified, so that guessing costs no query. Throws the error of the limit. */
  assertFew(request: FastifyRequest): Promise<void>
  countRefused(request: FastifyRequest): Promise<void>
  noteAccepted(request: FastifyRequest): void
}

const goodAddressMs = 60 * 60 * 1000
const goodAddressesMax = 10_000

/** Creates a limit of `max` refused requests a minute for each client address; 0 = no limit. */
export function createRefusalLimit(
  app: App,
  { name, max, exceeded }: { name: string; max: number; exceeded: ErrorFactory },
): RefusalLimit {
  const limiter = createRateLimiter(app, { name, max, windowSeconds: 60, callerOf: addressOf })
  const goodAddresses = createRecentCallers({ windowMs: goodAddressMs, max: goodAddressesMax })
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
