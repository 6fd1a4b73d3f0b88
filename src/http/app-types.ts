import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { AgentPrincipal } from '../kernel/agent.ts'
import type { Principal } from '../kernel/principal.ts'

/** The Fastify instance as every plugin here sees it: request and answer are typed by the route's TypeBox schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route. Set by the plugin that enforces it; the program does not boot without it. */
    access?: 'public' | 'apiKey' | 'agent' | 'web'
    /** Whether fields that are not known pass: where a standard of others says that they are to be ignored. */
    openBody?: boolean
    /** Whether no body stands for an empty object. */
    optionalBody?: boolean
  }
  interface FastifyRequest {
    /** Who calls. Only there on routes that ask for a credential. */
    principal: Principal
    /** Which agent calls, and for whom. Only there on routes that ask for an agent's access token. */
    agent: AgentPrincipal
  }
}
