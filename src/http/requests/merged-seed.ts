import type { App } from '../app-types.ts'
import { declareAnswers } from '../answers/answers.ts'

const prefix = '/v1/seeds/:id'
// Matches the raw URL, which may contain an origin.
const upToId = /^(?:https?:\/\/[^/]*)?\/v1\/seeds\/[^/?]*/i

/**
 * Sends `Content-Location` (RFC 9110 §8.7) with the path of the seed that another one was merged into, when it is read by
 * the id of that one. After `registerTargetResources`.
 */
export function registerMergedSeed(app: App): void {
  app.addHook('onRoute', (route) => {
    if (route.method !== 'GET' || !route.url.startsWith(prefix)) return
    declareAnswers(route, { headers: ['Content-Location'] })
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      (request, reply, done) => {
        request.principal.onSeedMerged = (seedId) =>
          void reply.header('content-location', `/v1/seeds/${seedId}${request.url.replace(upToId, '')}`)
        done()
      },
    ]
  })
}
