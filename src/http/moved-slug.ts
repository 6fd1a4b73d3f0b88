import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'

const pathWithSlug = '/v1/workspaces/:slug'
// Written as the client likes, with an origin or with %-escapes.
const upToSlug = /^(?:https?:\/\/[^/]*)?(?:\/[^/?]*){3}/i

/**
 * Tells the client, as `Content-Location` (RFC 9110 §8.7), the present path of a workspace that it has reached by a
 * former slug or has just given another one.
 */
export function registerMovedSlug(app: App): void {
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith(pathWithSlug)) return
    declareAnswers(route, { headers: ['Content-Location'] })
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      (request, reply, done) => {
        const { slug } = request.params as { slug: string }
        request.principal.onSlugMoved = (presentSlug) => {
          const path = `/v1/workspaces/${presentSlug}${request.url.replace(upToSlug, '')}`
          if (presentSlug === slug) void reply.removeHeader('content-location')
          else void reply.header('content-location', path)
        }
        done()
      },
    ]
  })
}
