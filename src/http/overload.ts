import type { FastifyRequest } from 'fastify'
import { errors } from '../kernel/errors.ts'
import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether it is answered however much there is to do: what load balancers and orchestrators ask. */
    vital?: boolean
  }
}

export interface OverloadOptions {
  /** A process that has worked on no request for longer than this keeps up. */
  keepsUpMs: number
}

export const overloadDefaults: OverloadOptions = { keepsUpMs: 100 }

/** How many times as many requests it takes then. */
const keepsUpFactor = 10
/** How many times as many it takes of callers who have few, when it does not. */
const fairFactor = 2
/** The part of all requests that one caller may have while there are too many. */
const fairShare = 0.1

/**
 * Answers 503 at once to requests on top of `max` that are worked on, unless all of them have come just now: those that
 * are accepted are answered soon, however many more there are. Callers who have many requests there are refused first.
 * Slow senders and slow readers do not count, since nothing is done for them.
 */
export function registerOverloadProtection(app: App, max: number, { keepsUpMs }: OverloadOptions): void {
  const requests = createRequests()
  let isOverloaded = false
  app.addHook('onRoute', (route) => {
    if (!route.config?.vital) declareAnswers(route, { errors: [errors.overloaded] })
  })
  app.addHook('onRequest', async (request, { raw }) => {
    if (request.routeOptions.config.vital) return
    const isFull = isTooMany(request)
    tell(isFull)
    if (isFull) throw errors.overloaded({ retryAfterSeconds: 1 })
    requests.add(request)
    raw.once('close', () => requests.delete(request))
  })
  app.addHook('preParsing', async (request) => {
    if (hasBody(request)) requests.delete(request)
  })
  app.addHook('preHandler', async (request, { raw }) => {
    if (hasBody(request) && !raw.destroyed) requests.add(request)
  })
  app.addHook('onSend', async (request) => {
    requests.delete(request)
  })

  function isTooMany(request: FastifyRequest): boolean {
    const count = requests.count()
    if (count < max) return false
    // Not again before the overload is over: it would swing.
    if (!isOverloaded && requests.oldestMs() < keepsUpMs) return count >= max * keepsUpFactor
    return count >= max * fairFactor || requests.countOfCaller(request) >= max * fairShare
  }

  /** Logs the beginning and the end. In between requests are refused and accepted in turn. */
  function tell(isFull: boolean): void {
    if (isFull && !isOverloaded) {
      isOverloaded = true
      app.log.warn({ requests: requests.count() }, 'too many requests at once: more are refused')
    } else if (isOverloaded && requests.count() < max / 2) {
      isOverloaded = false
      app.log.info('no longer too many requests at once')
    }
  }
}

/** The requests that are worked on. */
function createRequests() {
  /** When each began. The first is the oldest. */
  const begins = new Map<FastifyRequest, number>()
  const counts = new Map<string, number>()
  return {
    count: () => begins.size,
    countOfCaller: (request: FastifyRequest) => counts.get(callerOf(request)) ?? 0,
    oldestMs() {
      const [oldest] = begins.values()
      return oldest === undefined ? 0 : performance.now() - oldest
    },
    add(request: FastifyRequest) {
      const caller = callerOf(request)
      begins.set(request, performance.now())
      counts.set(caller, (counts.get(caller) ?? 0) + 1)
    },
    delete(request: FastifyRequest) {
      if (!begins.delete(request)) return
      const caller = callerOf(request)
      const left = (counts.get(caller) ?? 0) - 1
      if (left > 0) counts.set(caller, left)
      else counts.delete(caller)
    },
  }
}

/** Who sends a request, as far as it can be told before anything is looked up. */
function callerOf({ headers, ip }: FastifyRequest): string {
  return headers.authorization ?? String(headers['x-api-key'] ?? ip)
}

/** Whether a body comes after the headers (RFC 9112 §6.3). */
function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
