import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../kernel/errors.ts'
import type { App } from './app-types.ts'
import { addressOf, createRateLimiter, sendRateLimitHeaders } from './rate-limits.ts'
import { createRecentCallers } from './recent-callers.ts'

export interface AgentLimitsOptions {
  /** Requests a minute for each grant; ten times as many for each client and for each address; 0 = no limit. */
  agentLimitPerMinute: number
  /** Requests with a bad access token a minute for each client address; 0 = no limit. */
  badKeyLimitPerMinute: number
}

/** The rate limits of agents, over all routes that accept access tokens. */
export interface AgentLimits {
  /** Is called before a token is verified. Throws `too_many_bad_keys`. */
  assertFewBadTokens(request: FastifyRequest): Promise<void>
  countBadToken(request: FastifyRequest): Promise<void>
  /** Counts a request with a valid token and sends the RateLimit headers. Throws `agent_rate_limited`. */
  count(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

const windowSeconds = 60
// A hosted assistant is one client with a few addresses and many users.
const widerBy = 10
const goodAddressMs = 60 * 60 * 1000
const goodAddressesMax = 10_000

export function createAgentLimits(app: App, options: AgentLimitsOptions): AgentLimits {
  const { agentLimitPerMinute, badKeyLimitPerMinute } = options
  const toLimiter = (name: string, max: number, callerOf: (request: FastifyRequest) => string) => ({
    name,
    limiter: createRateLimiter(app, { name, max, windowSeconds, callerOf }),
  })
  const badTokens = toLimiter('bad-token', badKeyLimitPerMinute, addressOf).limiter
  const ofGrant = toLimiter('agent-grant', agentLimitPerMinute, ({ agent }) => agent.grant.id)
  const wider = [
    toLimiter('agent-client', widerBy * agentLimitPerMinute, ({ agent }) => agent.grant.clientId),
    toLimiter('agent-address', widerBy * agentLimitPerMinute, addressOf),
  ]
  const goodAddresses = createRecentCallers({ windowMs: goodAddressMs, max: goodAddressesMax })

  return {
    async assertFewBadTokens(request) {
      const state = await badTokens?.peek(request)
      if (state?.isExceeded && !goodAddresses.has(addressOf(request)))
        throw errors.tooManyBadKeys({ retryAfterSeconds: state.resetSeconds })
    },

    async countBadToken(request) {
      await badTokens?.count(request)
    },

    async count(request, reply) {
      goodAddresses.add(addressOf(request))
      for (const { name, limiter } of [ofGrant, ...wider]) {
        const state = await limiter?.count(request)
        if (!state) continue
        if (name === ofGrant.name || state.isExceeded) sendRateLimitHeaders(reply, name, windowSeconds, state)
        if (state.isExceeded) throw errors.agentRateLimited({ retryAfterSeconds: state.resetSeconds })
      }
    },
  }
}
