import fastifyPlugin from 'fastify-plugin'
import { errors } from '../../kernel/errors.ts'
import type { App } from '../app-types.ts'

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Refuses requests of pages from other origins, before any other check. Otherwise a page could reach a service on the
 * user's own machine by DNS rebinding. Requests without `Origin` do not come from pages and are accepted.
 */
export const allowedOrigins = fastifyPlugin(
  async (app: App, { origins }: { origins: readonly string[] }) => {
    const allowed = new Set(origins)
    app.addHook('onRequest', async (request) => {
      const { origin } = request.headers
      if (origin !== undefined && !allowed.has(origin) && !isLoopback(origin)) throw errors.originForbidden()
    })
  },
  { name: 'allowed-origins' },
)

function isLoopback(origin: string): boolean {
  return URL.canParse(origin) && loopbackNames.has(new URL(origin).hostname)
}
