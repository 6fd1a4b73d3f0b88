import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toAskedScopes, type AgentPrincipal } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import type { AgentLimits } from '../limits/agent-limits.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'
import { readBearerToken } from '../bearer.ts'
import { createLateBodyCheck } from './late-body.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The scope that an agent needs for the route, besides the one that every grant has. */
    agentScope?: string
    /** The version of the consent since which the scope includes the route. Default: always. */
    consentVersion?: number
  }
  interface FastifyReply {
    /**
     * Throws `insufficient_scope` unless the grant of the request's agent has the scopes, in this version of the consent or
     * a later one, with a challenge that leads clients to ask the person for those that agents can ask for (RFC 6750
     * section 3.1). `oldConsent`: the message if the scopes are there, and only the version is too old.
     */
    requireAgentScopes: (scopes: readonly string[], consentVersion?: number, oldConsent?: string) => void
  }
}

export interface AgentTokenAuthOptions {
  /** The agent of an access token, or undefined for an invalid token, another audience, or a grant that has ended. */
  authenticate: (accessToken: string) => Promise<AgentPrincipal | undefined>
  /** The URL of the resource metadata (RFC 9728 §5.1), by which agents discover the authorization server. */
  resourceMetadataUrl: string
  /** The scope that every grant has, and the only one that clients are told to ask for at first. */
  scope: string
  limits: AgentLimits
}

/**
 * Requires an access token of an agent on every route of its scope, and declares that in the API description. It runs
 * before the body is read. API keys are not accepted.
 */
export const agentTokenAuth = fastifyPlugin(
  async (app: App, { authenticate, resourceMetadataUrl, scope, limits }: AgentTokenAuthOptions) => {
    const challengeFor = (scopes: readonly string[]) =>
      `resource_metadata="${resourceMetadataUrl}", scope="${scopes.join(' ')}"`
    const resource = challengeFor([scope])

    app.decorateRequest('agent', null as unknown as AgentPrincipal)
    app.decorateReply(
      'requireAgentScopes',
      function requireAgentScopes(
        this: FastifyReply,
        scopes: readonly string[],
        consentVersion = 0,
        oldConsent?: string,
      ) {
        const { scopes: given, consentVersion: agreedTo } = this.request.agent.grant
        const hasScopes = scopes.every((needed) => given.includes(needed))
        if (agreedTo >= consentVersion && hasScopes) return
        // What was given is named too: clients ask for exactly the scopes of the challenge. What no agent can ask for is not.
        const challenge = challengeFor(toAskedScopes([...given, ...scopes]))
        void this.header('www-authenticate', `Bearer error="insufficient_scope", ${challenge}`)
        throw errors.insufficientScope(hasScopes && oldConsent !== undefined ? { message: oldConsent } : {})
      },
    )

    app.addHook('onRoute', (route) => {
      const { agentScope } = route.config ?? {}
      route.config = { ...route.config, access: 'agent' }
      route.schema = { ...route.schema, security: [{ agentOAuth: [agentScope ?? scope] }] }
      declareAnswers(route, {
        errors: [
          errors.agentTokenRequired,
          ...(agentScope === undefined ? [] : [errors.insufficientScope]),
          errors.tooManyBadKeys,
          errors.agentRateLimited,
          errors.databaseUnavailable,
        ],
        headers: ['RateLimit', 'RateLimit-Policy'],
      })
    })

    async function readAgent(request: FastifyRequest, reply: FastifyReply): Promise<AgentPrincipal> {
      const token = readBearerToken(request.headers.authorization) || undefined
      // RFC 6750 §3.1: the challenge to a request without a token has no error code.
      if (token === undefined) throw refuse(reply, `Bearer ${resource}`)
      await limits.badTokens.assertFew(request)
      const agent = await authenticate(token)
      if (agent) {
        limits.badTokens.noteAccepted(request)
        request.noteCaller({ credential: token, standsFor: `grant ${agent.grant.id}` })
        return agent
      }
      await limits.badTokens.countRefused(request)
      const reason =
        'error="invalid_token", error_description="The access token is invalid, expired or revoked"'
      throw refuse(reply, `Bearer ${reason}, ${resource}`)
    }

    const noteBody = createLateBodyCheck(app, async (request, reply) => {
      await readAgent(request, reply)
    })
    app.addHook('onRequest', async (request, reply) => {
      void reply.header('cache-control', 'private, no-store')
      // Requests of one turn share what was read of a grant.
      request.agent = { ...(await readAgent(request, reply)), requestId: request.id }
      noteBody(request)
      await limits.count(request, reply)
      const { agentScope, consentVersion } = request.routeOptions.config
      if (agentScope !== undefined) reply.requireAgentScopes([agentScope], consentVersion)
    })
  },
  { name: 'agent-token-auth' },
)

function refuse(reply: FastifyReply, challenge: string): Error {
  void reply.header('www-authenticate', challenge)
  return errors.agentTokenRequired()
}
