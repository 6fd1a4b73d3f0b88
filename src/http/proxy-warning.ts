import type { App } from './app-types.ts'

/**
 * Warns, once, of a proxy that `TRUST_PROXY` does not name: all its clients share one address then, and with it the
 * limits of one. Anybody can send the header, so it is a warning and no more.
 */
export function registerProxyWarning(app: App): void {
  let isWarned = false
  app.addHook('onRequest', async (request) => {
    if (isWarned || request.headers['x-forwarded-for'] === undefined) return
    // The addresses that are believed: that of the connection is the only one unless it is a named proxy.
    if (request.ips !== undefined && request.ips.length > 1) return
    isWarned = true
    app.log.warn(
      'X-Forwarded-For came from an address that TRUST_PROXY does not name: its clients count as one. ' +
        'If it is your proxy, set TRUST_PROXY.',
    )
  })
}
