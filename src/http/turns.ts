import type { FastifyRequest } from 'fastify'
import type { App } from './app-types.ts'

/** How many costly requests of one caller are worked on at once. */
const atOnceMax = 2

/**
 * Has the costly requests of one person, and of the agents that act for them, take turns: lists and the validation kit.
 * Others are answered in between, however many requests one caller sends at once.
 */
export function registerTurns(app: App): void {
  const turns = createTurns(atOnceMax)
  const ends = new WeakMap<FastifyRequest, () => void>()
  app.addHook('preHandler', async (request, { raw }) => {
    const caller = isCostly(request) ? findCaller(request) : undefined
    if (caller === undefined) return
    const end = await turns.take(caller)
    ends.set(request, end)
    raw.once('close', end)
    if (raw.destroyed) end()
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
  /** Waits for a turn. Returns how to end it. */
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
      else await new Promise<void>((resolve) => state.waiting.push(resolve))
      let hasEnded = false
      return () => {
        if (hasEnded) return
        hasEnded = true
        const next = state.waiting.shift()
        // After whatever has arrived in the meantime.
        if (next) setImmediate(next)
        else if ((state.running -= 1) === 0) callers.delete(caller)
      }
    },
  }
}
