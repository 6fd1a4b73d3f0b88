import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import type { App } from '../app-types.ts'
import { addressOf, createRateLimiter, sendRateLimitHeaders } from './rate-limits.ts'
import { createRefusalLimit, type RefusalLimit } from './refusal-limit.ts'

export interface AgentLimitsOptions {
  /** Requests a minute for each grant; ten times as many for each client and for each address; 0 = no limit. */
  agentLimitPerMinute: number
  /** Requests with a bad access token a minute for each client address; 0 = no limit. */
  badKeyLimitPerMinute: number
}

/** The rate limits of agents, over all routes that accept access tokens. */
export interface AgentLimits {
  badTokens: RefusalLimit
  /** Counts a request with a valid token and sends the RateLimit headers. Throws `agent_rate_limited`. */
  count(request: FastifyRequest, reply: FastifyReply): Promise<void>
}

const windowSeconds = 60
// A hosted assistant is one client with a few addresses and many users.
const widerBy = 10

export function createAgentLimits(app: App, options: AgentLimitsOptions): AgentLimits {
  const { agentLimitPerMinute, badKeyLimitPerMinute } = options
  const toLimiter = (name: string, max: number, callerOf: (request: FastifyRequest) => string) => ({
    name,
    limiter: createRateLimiter(app, { name, max, windowSeconds, callerOf }),
  })
  const ofGrant = toLimiter('agent-grant', agentLimitPerMinute, ({ agent }) => agent.grant.id)
  const wider = [
    toLimiter('agent-client', widerBy * agentLimitPerMinute, ({ agent }) => agent.grant.clientId),
    toLimiter('agent-address', widerBy * agentLimitPerMinute, addressOf),
  ]

  return {
    badTokens: createRefusalLimit(app, {
      name: 'bad-token',
      max: badKeyLimitPerMinute,
      exceeded: errors.tooManyBadKeys,
    }),

    async count(request, reply) {
      for (const { name, limiter } of [ofGrant, ...wider]) {
        const state = await limiter?.count(request)
        if (!state) continue
        if (name === ofGrant.name || state.isExceeded) sendRateLimitHeaders(reply, name, windowSeconds, state)
        if (state.isExceeded) throw errors.agentRateLimited({ retryAfterSeconds: state.resetSeconds })
      }
    },
  }
}
