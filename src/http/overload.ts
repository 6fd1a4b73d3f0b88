import type { FastifyRequest, onSendHookHandler } from 'fastify'
import { errors } from '../kernel/errors.ts'
import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is exempt from overload protection: the health checks of load balancers and orchestrators. */
    vital?: boolean
  }
}

export interface OverloadOptions {
  /** A process keeps up while its oldest request is younger than this, in milliseconds. */
  keepsUpMs: number
}

export const overloadDefaults: OverloadOptions = { keepsUpMs: 100 }

/** Multiplies the limit while the process keeps up. */
const keepsUpFactor = 10
/** Multiplies the limit for callers with few requests, while the process does not keep up. */
const fairFactor = 2
/** The fraction of the limit that one caller may use during an overload. */
const fairShare = 0.1

/**
 * Refuses requests with 503 while more than `max` are in progress, so that accepted requests stay fast. A burst is
 * accepted: the limit applies once the oldest request is older than `keepsUpMs`. Callers with many requests are refused
 * first. Requests that wait for their body, or whose response is being sent, do not count.
 */
export function registerOverloadProtection(app: App, max: number, { keepsUpMs }: OverloadOptions): void {
  const requests = createRequests()
  let isOverloaded = false
  const end: onSendHookHandler = (request, _reply, payload, done) => {
    requests.delete(request)
    done(null, payload)
  }
  app.addHook('onRoute', (route) => {
    if (route.config?.vital) return
    declareAnswers(route, { errors: [errors.overloaded] })
    // Compressing the response is part of the work.
    route.onSend = [...[route.onSend ?? []].flat(), end]
  })
  app.addHook('onRequest', (request, { raw }, done) => {
    if (request.routeOptions.config.vital) {
      done()
      return
    }
    const isFull = isTooMany(request)
    logOverload(isFull)
    if (isFull) {
      done(errors.overloaded({ retryAfterSeconds: 1 }))
      return
    }
    requests.add(request)
    raw.once('close', () => requests.delete(request))
    done()
  })
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (hasBody(request)) requests.delete(request)
    done(null, payload)
  })
  app.addHook('preHandler', (request, { raw }, done) => {
    if (hasBody(request) && !raw.destroyed) requests.add(request)
    done()
  })

  function isTooMany(request: FastifyRequest): boolean {
    const count = requests.count()
    if (count < max) return false
    // During an overload the lower limit stays, so that the decision does not alternate.
    if (!isOverloaded && requests.oldestMs() < keepsUpMs) return count >= max * keepsUpFactor
    return count >= max * fairFactor || requests.countOfCaller(request) >= max * fairShare
  }

  /** Logs the beginning and the end of an overload. */
  function logOverload(isFull: boolean): void {
    if (isFull && !isOverloaded) {
      isOverloaded = true
      app.log.warn({ requests: requests.count() }, 'overload: requests are refused')
    } else if (isOverloaded && requests.count() < max / 2) {
      isOverloaded = false
      app.log.info('overload ended')
    }
  }
}

/** The requests in progress, and their number for each caller. */
function createRequests() {
  /** Start times. The first entry is the oldest. */
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

/** Identifies the caller without a query. */
function callerOf({ headers, ip }: FastifyRequest): string {
  return headers.authorization ?? String(headers['x-api-key'] ?? ip)
}

/** Whether a body comes after the headers (RFC 9112 §6.3). */
function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
