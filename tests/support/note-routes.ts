import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'

/** Starts something, and returns it with every route that it registers, those of the website among them. */
export async function noteRoutes<T>(
  start: () => Promise<T>,
): Promise<{ started: T; routes: RouteOptions[] }> {
  const routes: RouteOptions[] = []
  const note = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', (route) => void routes.push(route))
  }
  subscribe('fastify.initialization', note)
  try {
    return { started: await start(), routes }
  } finally {
    unsubscribe('fastify.initialization', note)
  }
}

/** The paths of all forms of the website, upload forms and what scripts send included. */
export function formsIn(routes: readonly RouteOptions[]): string[] {
  return routes
    .filter(({ config, method }) => config?.access === 'web' && method === 'POST')
    .map(({ url }) => url)
}
