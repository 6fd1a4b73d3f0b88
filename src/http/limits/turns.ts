import type { FastifyRequest, FastifySchema, onSendHookHandler } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import { createTurns, turnsWaitingMax } from '../../concurrency/turns.ts'
import { addressOf } from './rate-limits.ts'
import type { App } from '../app-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the response is large. Such requests take turns by caller. */
    isLarge?: boolean
  }
}

export interface TurnsWait {
  /** The time after which a request that waits for its turn is refused, in milliseconds. */
  waitMsMax: number
}

export const turnsDefaults: TurnsWait = { waitMsMax: 2_000 }

/**
 * Limits the concurrency of costly requests, with 429 `too_many_at_once`, which overload protection declares for all
 * routes: lists and validation kits for each user together with their agents, large documents for each client address, and
 * changes for each user. Other callers are served in between.
 */
export function registerTurns(app: App, { waitMsMax }: TurnsWait): void {
  const reads = createTurns({ atOnceMax: 2, waitingMax: turnsWaitingMax, waitMsMax })
  // Apart, so that neither waits for the other: a change may wait for a lock.
  const changes = createTurns({ atOnceMax: 2, waitingMax: turnsWaitingMax, waitMsMax })
  const ends = new WeakMap<FastifyRequest, () => void>()
  app.addHook('preHandler', async (request, reply) => {
    const turns = isCostly(request) ? reads : isChange(request) ? changes : undefined
    if (!turns) return
    const end = await turns.take(findCaller(request))
    ends.set(request, end)
    reply.raw.once('close', end)
    // The client has left while it waited: nothing is done for it, and nobody reads this. A response that waits for an
    // earlier one on the connection does not know.
    if (request.raw.socket.destroyed) throw errors.tooManyAtOnce({ retryAfterSeconds: 1 })
  })
  const end: onSendHookHandler = (request, _reply, payload, done) => {
    ends.get(request)?.()
    done(null, payload)
  }
  // After the response has been compressed, and before it is sent, so that a slow reader does not hold the turn.
  app.addHook('onRoute', (route) => {
    route.onSend = [...[route.onSend ?? []].flat(), end]
  })
}

function isList(schema: FastifySchema | undefined): boolean {
  const query = schema?.querystring as { properties?: object } | undefined
  return 'cursor' in (query?.properties ?? {})
}

function isCostly({ routeOptions: { config, schema } }: FastifyRequest): boolean {
  return config.isLarge === true || config.access === 'agent' || isList(schema)
}

function isChange({ method, routeOptions: { config } }: FastifyRequest): boolean {
  return config.access === 'apiKey' && method !== 'GET' && method !== 'HEAD'
}

function findCaller(request: FastifyRequest): string {
  const { agent, principal } = request as Partial<Pick<FastifyRequest, 'agent' | 'principal'>>
  return (agent ?? principal)?.user.id ?? addressOf(request)
}
