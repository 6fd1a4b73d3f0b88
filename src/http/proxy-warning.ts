import type { App } from './app-types.ts'

/**
 * Logs one warning when `X-Forwarded-For` comes from an address that `TRUST_PROXY` does not name: all clients of such a
 * proxy share one address and its limits. Any client can send the header, so the request is not refused.
 */
export function registerProxyWarning(app: App): void {
  let isWarned = false
  app.addHook('onRequest', async (request) => {
    if (isWarned || request.headers['x-forwarded-for'] === undefined) return
    // The trusted addresses: more than one if the connection comes from a named proxy.
    if (request.ips !== undefined && request.ips.length > 1) return
    isWarned = true
    app.log.warn(
      'X-Forwarded-For came from an address that TRUST_PROXY does not name and was ignored. If that is your proxy, ' +
        'set TRUST_PROXY: all its clients share one rate limit otherwise.',
    )
  })
}
