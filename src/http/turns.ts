import type { FastifyRequest } from 'fastify'
import { createTurns } from '../kernel/turns.ts'
import type { App } from './app-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether its answer is large, whoever asks. */
    isLarge?: boolean
  }
}

/**
 * Has the costly requests of one person, and of the agents that act for them, take turns: lists and the validation kit.
 * So do those of one address for large documents. Others are answered in between, however many requests one caller sends
 * at once.
 */
export function registerTurns(app: App): void {
  const turns = createTurns({ atOnceMax: 2, waitingMax: 64, waitMsMax: 2_000 })
  const ends = new WeakMap<FastifyRequest, () => void>()
  app.addHook('preHandler', async (request, reply) => {
    if (!isCostly(request)) return
    const end = await turns.take(findCaller(request))
    ends.set(request, end)
    reply.raw.once('close', end)
    if (reply.raw.destroyed) end()
  })
  // The answer is made: a client that reads slowly holds up nobody.
  app.addHook('onSend', async (request) => ends.get(request)?.())
}

function isCostly({ routeOptions: { config, schema } }: FastifyRequest): boolean {
  const query = schema?.querystring as { properties?: object } | undefined
  return config.isLarge === true || config.access === 'agent' || 'cursor' in (query?.properties ?? {})
}

function findCaller(request: FastifyRequest): string {
  const { agent, principal } = request as Partial<Pick<FastifyRequest, 'agent' | 'principal'>>
  return (agent ?? principal)?.user.id ?? request.ip
}
