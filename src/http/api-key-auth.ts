import fastifyPlugin from 'fastify-plugin'
import type { FastifyRequest } from 'fastify'
import { errors } from '../kernel/errors.ts'
import type { Principal } from '../kernel/principal.ts'
import { isWellFormedApiKey } from '../kernel/tokens.ts'
import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'
import { readBearerToken } from './bearer.ts'
import { createLateBodyCheck } from './late-body.ts'
import { addressOf, createRateLimiter, sendRateLimitHeaders } from './rate-limits.ts'
import { createRecentCallers } from './recent-callers.ts'

export interface ApiKeyAuthOptions {
  /** Who an active key belongs to. Only asked about keys of the right form. */
  authenticate: (apiKey: string) => Promise<Principal | undefined>
  /** Requests a minute for each key; 0 = no limit. */
  rateLimitPerMinute: number
  /** Requests with an unknown or revoked key a minute for each client address; 0 = no limit. */
  badKeyLimitPerMinute: number
}

const windowSeconds = 60
const policyName = 'api-key'
const goodAddressMs = 60 * 60 * 1000
const goodAddressesMax = 10_000

/**
 * Asks every route of the scope that it is registered in for an API key, and says so in the API description: hook and
 * documentation come together and cannot drift apart. It runs before the body is read.
 */
export const apiKeyAuth = fastifyPlugin(
  async (app: App, { authenticate, rateLimitPerMinute, badKeyLimitPerMinute }: ApiKeyAuthOptions) => {
    const keyLimiter = createRateLimiter(app, {
      name: policyName,
      max: rateLimitPerMinute,
      windowSeconds,
      callerOf: (request) => String(request.principal.apiKeyId),
    })
    const badKeyLimiter = createRateLimiter(app, {
      name: 'bad-key',
      max: badKeyLimitPerMinute,
      windowSeconds,
      callerOf: addressOf,
    })

    const noteBody = createLateBodyCheck(app, async (request) => {
      if (!(await authenticate(String(readCredentials(request))))) throw errors.apiKeyRequired()
    })
    const goodAddresses = createRecentCallers({ windowMs: goodAddressMs, max: goodAddressesMax })

    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'apiKey' }
      route.schema = { ...route.schema, security: [{ bearer: [] }, { apiKey: [] }] }
      declareAnswers(route, {
        errors: [
          errors.apiKeyRequired,
          errors.tooManyBadKeys,
          errors.rateLimited,
          errors.databaseUnavailable,
        ],
        headers: ['RateLimit', 'RateLimit-Policy'],
      })
    })

    app.addHook('onRequest', async (request, reply) => {
      // RFC 9111 §5.2.2: what one person may see is in no shared cache, and in no other.
      void reply.header('cache-control', 'private, no-store')
      const presented = readCredentials(request)
      if (presented === undefined) throw errors.apiKeyRequired()

      // Costs no query, and so is not counted: an office must not be shut out by what somebody there types wrong.
      if (!isWellFormedApiKey(presented)) throw errors.apiKeyRequired()

      // Looked at before the database is asked: guessing keys must not cost a query each. Not where a good key came from
      // lately: a stranger behind the same address must not shut its owner out.
      const address = addressOf(request)
      const badKeys = await badKeyLimiter?.peek(request)
      if (badKeys?.isExceeded && !goodAddresses.has(address))
        throw errors.tooManyBadKeys({ retryAfterSeconds: badKeys.resetSeconds })

      const principal = await authenticate(presented)
      if (!principal) {
        await badKeyLimiter?.count(request)
        throw errors.apiKeyRequired()
      }
      request.principal = principal
      noteBody(request)
      goodAddresses.add(address)

      const state = await keyLimiter?.count(request)
      if (!state) return
      sendRateLimitHeaders(reply, policyName, windowSeconds, state)
      if (state.isExceeded) throw errors.rateLimited({ retryAfterSeconds: state.resetSeconds })
    })
  },
  { name: 'api-key-auth' },
)

/**
 * The key that a request presents, from `Authorization: Bearer` (RFC 6750 §2.1, the scheme in any case) or `X-API-Key`.
 * Undefined when it presents none; the empty string, which no key is, when it contradicts itself.
 */
function readCredentials({ headers, raw }: FastifyRequest): string | undefined {
  const bearer = readBearerToken(headers.authorization)
  const header = headers['x-api-key'] as string | undefined
  if (bearer !== undefined && header !== undefined && bearer !== header) return ''
  // Node keeps the first of several Authorization headers and drops the others; another server may have read the last.
  if (bearer !== undefined && countHeaders(raw.rawHeaders, 'authorization') > 1) return ''
  return bearer ?? header
}

function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i]
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count++
  }
  return count
}
