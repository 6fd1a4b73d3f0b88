import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'

const pathWithSlug = '/v1/workspaces/:slug'
// Matches the raw URL, which may contain an origin and percent-encoding.
const upToSlug = /^(?:https?:\/\/[^/]*)?(?:\/[^/?]*){3}/i

/**
 * Sends `Content-Location` (RFC 9110 §8.7) with the current path of a workspace, after a request by a former slug and
 * after a change of the slug.
 */
export function registerMovedSlug(app: App): void {
  app.addHook('onRoute', (route) => {
    if (!route.url.startsWith(pathWithSlug)) return
    declareAnswers(route, { headers: ['Content-Location'] })
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      (request, reply, done) => {
        const { slug } = request.params as { slug: string }
        request.principal.onSlugMoved = (currentSlug) => {
          const path = `/v1/workspaces/${currentSlug}${request.url.replace(upToSlug, '')}`
          if (currentSlug === slug) void reply.removeHeader('content-location')
          else void reply.header('content-location', path)
        }
        done()
      },
    ]
  })
}
