import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../kernel/errors.ts'
import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether it is answered however much there is to do: what load balancers and orchestrators ask. */
    vital?: boolean
  }
}

/** The requests that are worked on. */
export interface RequestsAtOnce {
  /** Counts a request until its answer is made, once. */
  add(request: FastifyRequest, reply: FastifyReply): void
  /** Does not count a request while it waits for its turn or its body. */
  pause(request: FastifyRequest): void
}

/**
 * Answers 503 at once to requests on top of `max` that are worked on: those that are accepted are answered soon, however
 * many more there are. Slow senders and slow readers do not count, since nothing is done for them.
 */
export function registerOverloadProtection(app: App, max: number): RequestsAtOnce {
  const requests = new Set<FastifyRequest>()
  let isOverloaded = false
  app.addHook('onRoute', (route) => {
    if (!route.config?.vital) declareAnswers(route, { errors: [errors.overloaded] })
  })
  app.addHook('onRequest', async (request, { raw }) => {
    if (request.routeOptions.config.vital) return
    tell(requests.size >= max)
    if (requests.size >= max) throw errors.overloaded({ retryAfterSeconds: 1 })
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

  /** Logs the beginning and the end. In between requests are refused and accepted in turn. */
  function tell(isFull: boolean): void {
    if (isFull && !isOverloaded) {
      isOverloaded = true
      app.log.warn({ requests: max }, 'too many requests at once: more are refused')
    } else if (isOverloaded && requests.size < max / 2) {
      isOverloaded = false
      app.log.info('no longer too many requests at once')
    }
  }

  return {
    add(request, { raw }) {
      if (!raw.destroyed) requests.add(request)
    },
    pause(request) {
      requests.delete(request)
    },
  }
}

/** Whether a body comes after the headers (RFC 9112 §6.3). */
function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
