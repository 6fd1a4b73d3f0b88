import type { App } from './app-types.ts'

/**
 * Tells clients that keep connections to close them (RFC 9112 §9.6) once the process is about to stop, so that none is
 * closed under a request that is on its way.
 */
export function registerDraining(app: App, isStopping: () => boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    if (isStopping()) void reply.header('connection', 'close')
  })
}
