import fastifyPlugin from 'fastify-plugin'
import type { RouteOptions } from 'fastify'
import type { App } from '../app-types.ts'

/**
 * Refuses to start when a route declares neither a credential nor public access, when two operations share an id, or
 * when a body schema is not closed. It checks all routes at `onReady`: the `onRoute` hooks of a parent run before those
 * of its children, which declare the access.
 */
export function registerRouteGuard(app: App): void {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    // Preflights have no credential (Fetch standard, "CORS-preflight fetch") and do not reach an operation.
    if (route.method !== 'OPTIONS') routes.push(route)
  })
  app.addHook('onReady', async () => {
    const problems = routes.flatMap(findProblems).concat(findDuplicateIds(routes))
    if (problems.length > 0) throw new Error(`Invalid routes:\n${problems.join('\n')}`)
  })
}

/** Declares public access for all routes of its scope. */
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

function findDuplicateIds(routes: RouteOptions[]): string[] {
  const seen = new Set<string>()
  return routes
    .filter((route) => route.method !== 'HEAD')
    .map((route) => (route.schema as { operationId?: string } | undefined)?.operationId)
    .filter((id) => id !== undefined)
    .filter((id) => seen.size === seen.add(id).size)
    .map((id) => `operation id ${id} is used twice`)
}
