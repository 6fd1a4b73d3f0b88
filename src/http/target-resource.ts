import type { TargetResource } from '../domain/principal.ts'
import type { App } from './app-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a request to the route is about. Set by `registerTargetResources`. */
    targetOf?: TargetResourceOf
  }
}

/** Tells from the path parameters of a request what it is about. */
export type TargetResourceOf = (params: Record<string, string>) => TargetResource

/** Tells what the requests of a scope are about, by the path that their routes begin with. Before its routes. */
export function registerTargetResources(
  app: App,
  resources: Readonly<Record<string, TargetResourceOf>>,
): void {
  const paths = Object.entries(resources)
  app.addHook('onRoute', (route) => {
    const found = paths.find(([path]) => `${route.url}/`.startsWith(`${path}/`))
    if (found) route.config = { ...route.config, targetOf: found[1] }
  })
}
