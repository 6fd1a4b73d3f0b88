import type { FastifyRequest } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import { noMeter, type Meter } from '../../kernel/meter.ts'
import type { App } from '../app-types.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts what happens, for the metrics. */
    meter: Meter
  }
}

/** Adds `app.meter`, and measures all requests, unless it is `noMeter`: then no hook runs. */
export function registerMeasuring(app: App, meter: Meter): void {
  app.decorate('meter', meter)
  if (meter === noMeter) return
  app.addHook('onRequest', (_request, _reply, done) => {
    meter.requestBegan()
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const seconds = reply.elapsedTime / 1000
    const { method } = request
    meter.requestEnded({ operation: operationOf(request), method, status: reply.statusCode, seconds })
    done()
  })
}

function operationOf({ is404, routeOptions }: FastifyRequest): string {
  const { operationId } = (routeOptions.schema ?? {}) as { operationId?: string }
  return is404 ? 'none' : (operationId ?? routeOptions.url ?? 'none')
}

const outcomes = new Map<string, 'failed' | 'limited'>([
  ...[
    errors.signInFailed,
    errors.passwordWrong,
    errors.codeWrong,
    errors.passkeyRefused,
    errors.providerFailed,
    errors.identityUnverified,
    errors.identityUnlinked,
    errors.signUpDisabled,
    errors.inviteRequired,
  ].map(({ code }) => [code, 'failed'] as const),
  ...[errors.tooManySignIns, errors.signInByLink].map(({ code }) => [code, 'limited'] as const),
])

/** Counts an error that a request is answered with, and the sign-in that has failed by it, and notes it for the audit. */
export function measureError(request: FastifyRequest, code: string): void {
  const { routeOptions, server } = request
  request.audited = { ...request.audited, code }
  server.meter.errorAnswered(code)
  const outcome = outcomes.get(code)
  if (outcome && /^[/](sign-in|verify-email)\b/.test(routeOptions.url ?? ''))
    server.meter.count('signIns', outcome)
}
