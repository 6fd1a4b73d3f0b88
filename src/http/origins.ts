import fastifyPlugin from 'fastify-plugin'
import { errors } from '../kernel/errors.ts'
import type { App } from './app-types.ts'

const loopbackNames = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Refuses browsers on other pages than these, before anything else is looked at: a page that has its name point at a
 * service on the person's machine (DNS rebinding) must not speak for it. Programs send no Origin and pass.
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
