import type { FastifyRequest } from 'fastify'
import type { App } from '../app-types.ts'

/**
 * Logs one warning when `X-Forwarded-For` comes from an address that `TRUST_PROXY` does not name: all clients of such a
 * proxy share one address and its limits. Any client can send the header, so the request is not refused.
 */
export function registerProxyWarning(app: App): void {
  let isWarned = false
  app.addHook('onRequest', (request, _reply, done) => {
    if (!isWarned && isFromUnnamedProxy(request)) {
      isWarned = true
      app.log.warn(
        'X-Forwarded-For came from an address that TRUST_PROXY does not name and was ignored. If that is your proxy, ' +
          'set TRUST_PROXY: all its clients share one rate limit otherwise.',
      )
    }
    done()
  })
}

/** Whether a request has `X-Forwarded-For` from an address that TRUST_PROXY does not name. */
export function isFromUnnamedProxy({ headers, ips = [] }: FastifyRequest): boolean {
  // `ips` are the trusted addresses: more than one if the connection comes from a named proxy.
  return headers['x-forwarded-for'] !== undefined && ips.length <= 1
}
