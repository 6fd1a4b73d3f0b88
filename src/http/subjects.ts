import type { Subject } from '../domain/principal.ts'
import type { App } from './app-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a request to the route is about. Set by `registerSubjects`. */
    subjectOf?: SubjectOf
  }
}

/** Tells from the path parameters of a request what it is about. */
export type SubjectOf = (params: Record<string, string>) => Subject

/** Tells what the requests of a scope are about, by the path that their routes begin with. Before its routes. */
export function registerSubjects(app: App, subjects: Readonly<Record<string, SubjectOf>>): void {
  const paths = Object.entries(subjects)
  app.addHook('onRoute', (route) => {
    const found = paths.find(([path]) => `${route.url}/`.startsWith(`${path}/`))
    if (found) route.config = { ...route.config, subjectOf: found[1] }
  })
}
