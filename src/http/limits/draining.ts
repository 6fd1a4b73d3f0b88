import type { App } from '../app-types.ts'

/**
 * Asks clients to close their connections (RFC 9112 §9.6) while the process is stopping, so that it does not have to
 * close one while a request is in transit.
 */
export function registerDraining(app: App, isStopping: () => boolean): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) void reply.header('connection', 'close')
    done(null, payload)
  })
}
