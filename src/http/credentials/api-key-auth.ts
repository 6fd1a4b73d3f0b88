import fastifyPlugin from 'fastify-plugin'
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import { isBelowOwner } from '../../domain/key-restrictions.ts'
import type { Call, TargetResource } from '../../domain/principal.ts'
import { isWellFormedApiKey } from '../../kernel/tokens.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'
import { readBearerToken } from '../bearer.ts'
import { createLateBodyCheck } from './late-body.ts'
import { createRateLimiter, sendRateLimitHeaders } from '../limits/rate-limits.ts'
import { createRefusalLimit } from '../limits/refusal-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Asks again whose the API key of a long request is; undefined when it is no longer valid. */
    authenticateAgain(): Promise<Call | undefined>
  }
  interface FastifyContextConfig {
    /**
     * Whether API keys that are bound to workspaces may use the route, although its path is not in a workspace. Its service
     * leaves out, or refuses, what the key does not reach.
     */
    forBoundKeys?: boolean
    /**
     * Whether API keys that act with a role below that of owners may use the route too, although its path is not in a
     * workspace: it changes nothing of the account, and shows nothing that only higher roles see. Those `forBoundKeys` need
     * not say so.
     */
    forKeysBelowOwner?: boolean
    /** Whether service accounts may use the route, although its path is not in a workspace. */
    forServices?: boolean
  }
}

export interface ApiKeyAuthOptions {
  /**
   * The principal of an active key. Is called only for well-formed keys. `target` is what a request that changes nothing
   * is about.
   */
  authenticate: (apiKey: string, target?: TargetResource) => Promise<Call | undefined>
  /** Requests a minute for each key; 0 = no limit. */
  rateLimitPerMinute: number
  /** Requests with an unknown or revoked key a minute for each client address; 0 = no limit. */
  badKeyLimitPerMinute: number
}

const windowSeconds = 60
const policyName = 'api-key'

/**
 * Requires an API key on every route of its scope, and declares that in the API description. Runs before the body is read.
 *
 * A key that may only read is refused by every method but GET and HEAD. A key that is bound to workspaces is refused by
 * every route outside of workspaces that is not declared `forBoundKeys`, one with a role below owner if it is not
 * `forKeysBelowOwner` either; inside, access/ refuses them
 * (docs/design/credentials.md#restrictions).
 */
export const apiKeyAuth = fastifyPlugin(
  async (app: App, { authenticate, rateLimitPerMinute, badKeyLimitPerMinute }: ApiKeyAuthOptions) => {
    const keyLimiter = createRateLimiter(app, {
      name: policyName,
      max: rateLimitPerMinute,
      windowSeconds,
      callerOf: (request) => String(request.principal.apiKeyId),
    })
    const badKeys = createRefusalLimit(app, {
      name: 'bad-key',
      max: badKeyLimitPerMinute,
      exceeded: errors.tooManyBadKeys,
    })

    const noteBody = createLateBodyCheck(app, async (request) => {
      const principal = await authenticate(String(readCredentials(request)))
      if (!principal) throw errors.apiKeyRequired()
      assertKeyAllows(request, principal)
      request.principal = principal
      principal.requestId = request.id
    })

    app.decorateRequest('authenticateAgain', function (this: FastifyRequest) {
      return authenticate(String(readCredentials(this)), findTarget(this))
    })

    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'apiKey' }
      route.schema = { ...route.schema, security: [{ bearer: [] }, { apiKey: [] }] }
      declareAnswers(route, {
        errors: [
          errors.apiKeyRequired,
          errors.tooManyBadKeys,
          errors.rateLimited,
          errors.databaseUnavailable,
          ...(isRead(route) ? [] : [errors.keyReadOnly]),
          ...(route.config.forBoundKeys ? [] : [errors.keyNotForWorkspace]),
          ...(isOpenBelowOwner(route.config) ? [] : [errors.keyRestricted]),
          ...(mayBeOfService(route.config) ? [] : [errors.serviceAccountNotAllowed]),
        ],
        headers: ['RateLimit', 'RateLimit-Policy'],
      })
    })

    app.addHook('onRequest', async (request, reply) => {
      // RFC 9111 §5.2.2: neither shared nor private caches store personal data.
      void reply.header('cache-control', 'private, no-store')
      const presented = readCredentials(request)
      if (presented === undefined) throw errors.apiKeyRequired()

      // Not counted, since it costs no query: a mistyped key must not block everybody behind the same address.
      if (!isWellFormedApiKey(presented)) throw errors.apiKeyRequired()

      await badKeys.assertFew(request)
      const principal = await authenticate(presented, findTarget(request))
      if (!principal) {
        await badKeys.countRefused(request)
        throw errors.apiKeyRequired()
      }
      badKeys.noteAccepted(request)
      request.noteCaller({ credential: presented, standsFor: `key ${principal.apiKeyId}` })
      request.principal = principal
      principal.requestId = request.id
      noteBody(request)

      const state = await keyLimiter?.count(request)
      if (state) sendRateLimitHeaders(reply, policyName, windowSeconds, state)
      if (state?.isExceeded) throw errors.rateLimited({ retryAfterSeconds: state.resetSeconds })
      assertKeyAllows(request, principal)
    })
  },
  { name: 'api-key-auth' },
)

/**
 * Throws `service_account_not_allowed`, `key_read_only`, `key_not_for_workspace` and `key_restricted` for a request that its
 * key, or who owns it, may not make.
 */
function assertKeyAllows(
  { method, routeOptions: { config } }: FastifyRequest,
  { isService, restrictions }: Call,
): void {
  if (isService && !mayBeOfService(config)) throw errors.serviceAccountNotAllowed()
  if (!restrictions) return
  if (restrictions.access === 'read' && !isRead({ method })) throw errors.keyReadOnly()
  const isOpen = config.forBoundKeys ?? (isService && config.forServices)
  const isElsewhere = config.targetOf === undefined && !isOpen
  if (restrictions.workspaceIds !== null && isElsewhere) throw errors.keyNotForWorkspace()
  if (isBelowOwner(restrictions) && !isOpenBelowOwner(config)) throw errors.keyRestricted()
}

/** Whether keys with a role below owner may use a route. Inside of a workspace, their role decides. */
function isOpenBelowOwner({ targetOf, forBoundKeys, forKeysBelowOwner }: FastifyContextConfig): boolean {
  return targetOf !== undefined || forBoundKeys === true || forKeysBelowOwner === true
}

/** Whether a route is in a workspace, or one of those outside that service accounts may use. */
function mayBeOfService({ targetOf, forServices = false }: FastifyContextConfig): boolean {
  return targetOf !== undefined || forServices
}

/** Whether a route or request changes nothing (RFC 9110 §9.2.1). */
function isRead({ method }: { method: string | string[] }): boolean {
  return [method].flat().every((name) => name === 'GET' || name === 'HEAD')
}

/**
 * What a request without a body is about, so that its workspace is read with the key. A body could take so long to arrive
 * that the role is no longer true.
 */
function findTarget({ method, params, routeOptions }: FastifyRequest): TargetResource | undefined {
  if (!isRead({ method })) return undefined
  return routeOptions.config.targetOf?.(params as Record<string, string>)
}

/**
 * The key of a request, from `Authorization: Bearer` (RFC 6750 §2.1, the scheme in any case) or `X-API-Key`. Undefined
 * without a key; the empty string, which is never a key, when the headers contain different keys.
 */
function readCredentials({ headers, raw }: FastifyRequest): string | undefined {
  const bearer = readBearerToken(headers.authorization)
  const header = headers['x-api-key'] as string | undefined
  if (bearer !== undefined && header !== undefined && bearer !== header) return ''
  // Node.js keeps the first of several Authorization headers; a proxy may have checked the last one.
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
