import type { App } from './app-types.ts'

const pathWithSlug = '/v1/workspaces/:slug'
const prefix = '/v1/workspaces/'

/**
 * Tells the client, as `Content-Location` (RFC 9110 §8.7), the present path of a workspace that it has reached by a
 * former slug or has just given another one.
 */
export function registerMovedSlug(app: App): void {
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith(pathWithSlug)) return
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      (request, reply, done) => {
        request.principal.onSlugMoved = (presentSlug) => {
          const rest = request.url.slice(prefix.length).replace(/^[^/?]*/, '')
          void reply.header('content-location', `${prefix}${presentSlug}${rest}`)
        }
        done()
      },
    ]
  })
}
