import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { AgentPrincipal } from '../domain/agent.ts'
import type { Call } from '../domain/principal.ts'

/** The Fastify instance of all plugins here: the TypeBox schemas of a route type its request and response. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The credential that the route requires. Set by the plugin that checks it; the process does not start without it.
     */
    access?: 'public' | 'apiKey' | 'agent' | 'web'
    /** Whether unknown fields are allowed, for standards that require servers to ignore them. */
    openBody?: boolean
    /** Whether an absent body means an empty object. */
    optionalBody?: boolean
  }
  interface FastifyRequest {
    /** The caller. Only set on routes that require a credential. */
    principal: Call
    /** The agent that calls. Only set on routes that require an access token. */
    agent: AgentPrincipal
  }
}
