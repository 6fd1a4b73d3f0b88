import type { FastifyRequest } from 'fastify'
import { errors } from '../kernel/errors.ts'
import type { App } from './app-types.ts'
import type { RequestsAtOnce } from './overload.ts'

/** How many costly requests of one caller are worked on at once. */
const atOnceMax = 2
/** How long one waits for its turn at most. */
const waitMsMax = 2_000

/**
 * Has the costly requests of one person, and of the agents that act for them, take turns: lists and the validation kit.
 * Others are answered in between, however many requests one caller sends at once.
 */
export function registerTurns(app: App, requestsAtOnce: RequestsAtOnce): void {
  const turns = createTurns(atOnceMax)
  const ends = new WeakMap<FastifyRequest, () => void>()
  app.addHook('preHandler', async (request, reply) => {
    const caller = isCostly(request) ? findCaller(request) : undefined
    if (caller === undefined) return
    requestsAtOnce.pause(request)
    const end = await turns.take(caller)
    requestsAtOnce.add(request, reply)
    ends.set(request, end)
    reply.raw.once('close', end)
    if (reply.raw.destroyed) end()
  })
  // The answer is made: a client that reads slowly holds up nobody.
  app.addHook('onSend', async (request) => ends.get(request)?.())
}

function isCostly({ routeOptions: { config, schema } }: FastifyRequest): boolean {
  const query = schema?.querystring as { properties?: object } | undefined
  return config.access === 'agent' || 'cursor' in (query?.properties ?? {})
}

function findCaller(request: FastifyRequest): string | undefined {
  const { agent, principal } = request as Partial<Pick<FastifyRequest, 'agent' | 'principal'>>
  return (agent ?? principal)?.user.id
}

interface Turns {
  /** Waits for a turn. Returns how to end it. Throws `overloaded` when it does not come in time. */
  take(caller: string): Promise<() => void>
}

function createTurns(max: number): Turns {
  const callers = new Map<string, { running: number; waiting: (() => void)[] }>()
  return {
    async take(caller) {
      const state = callers.get(caller) ?? { running: 0, waiting: [] }
      callers.set(caller, state)
      if (state.running < max) state.running += 1
      // The turn is handed over by who ends theirs.
      else await waitIn(state.waiting)
      let hasEnded = false
      return () => {
        if (hasEnded) return
        hasEnded = true
        const next = state.waiting.shift()
        if (next) next()
        else if ((state.running -= 1) === 0) callers.delete(caller)
      }
    },
  }
}

/** Waits until it is called by its turn, which it leaves to the next when that comes too late. */
function waitIn(waiting: (() => void)[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      clearTimeout(timer)
      // After whatever has arrived in the meantime.
      setImmediate(resolve)
    }
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(go), 1)
      reject(errors.overloaded({ retryAfterSeconds: 1 }))
    }, waitMsMax)
    waiting.push(go)
  })
}
