import fastifyPlugin from 'fastify-plugin'
import type { RouteOptions } from 'fastify'
import type { App } from './app-types.ts'

/**
 * Refuses to boot when a route says neither that it is public nor what credential it asks for, when two operations
 * share an id, or when a body is not closed. The routes are only looked at when all are there: hooks of a parent run
 * before those of its children, which is where access is declared.
 */
export function registerRouteGuard(app: App): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    // A preflight carries no credential (Fetch standard, "CORS-preflight fetch") and reaches no operation.
    if (route.method !== 'OPTIONS') routes.push(route)
  })
  app.addHook('onReady', async () => {
    const problems = routes.flatMap(findProblems).concat(findDoubledIds(routes))
    if (problems.length > 0) throw new Error(`Routes are not fit to be served:\n${problems.join('\n')}`)
  })
}

/** Declares the routes of the scope that it is registered in as open to everybody. */
export const publicAccess = fastifyPlugin(
  async (app: App) => {
    app.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'public' }
      route.schema = { ...route.schema, security: [] }
    })
  },
  { name: 'public-access' },
)

function findProblems(route: RouteOptions): string[] {
  const name = `${String(route.method)} ${route.url}`
  const body = route.schema?.body as { type?: string; additionalProperties?: unknown } | undefined
  return [
    ...(route.config?.access ? [] : [`${name} declares no access`]),
    ...(body?.type === 'object' && body.additionalProperties !== false && !route.config?.openBody
      ? [`${name} has a body that is not closed`]
      : []),
  ]
}

function findDoubledIds(routes: RouteOptions[]): string[] {
  const seen = new Set<string>()
  return routes
    .filter((route) => route.method !== 'HEAD')
    .map((route) => (route.schema as { operationId?: string } | undefined)?.operationId)
    .filter((id) => id !== undefined)
    .filter((id) => seen.size === seen.add(id).size)
    .map((id) => `${id} is the id of two operations`)
}
