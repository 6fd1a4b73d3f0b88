import type { App } from '../app-types.ts'
import { declareAnswers } from '../answers/answers.ts'

/**
 * Sends `Content-Location` (RFC 9110 §8.7) with the current path of a workspace, after a request by a former slug and
 * after a change of the slug. For routes about the workspace of their parameter `slug`, after `registerTargetResources`.
 */
export function registerMovedSlug(app: App): void {
  app.addHook('onRoute', (route) => {
    const [prefix = '', suffix] = route.url.split('/:slug')
    if (!route.config?.targetOf || suffix === undefined) return
    // Matches the raw URL, which may contain an origin and percent-encoding.
    const upToSlug = new RegExp(`^(?:https?://[^/]*)?(?:/[^/?]*){${prefix.split('/').length}}`, 'i')
    declareAnswers(route, { headers: ['Content-Location'] })
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      (request, reply, done) => {
        const { slug } = request.params as { slug: string }
        request.principal.onSlugMoved = (currentSlug) => {
          const path = `${prefix}/${currentSlug}${request.url.replace(upToSlug, '')}`
          if (currentSlug === slug) void reply.removeHeader('content-location')
          else void reply.header('content-location', path)
        }
        done()
      },
    ]
  })
}
