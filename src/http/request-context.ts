import { errors } from '../kernel/errors.ts'
import type { Principal } from '../kernel/principal.ts'
import { declareAnswers } from './answers.ts'
import type { App } from './app-types.ts'

/** The longest URL that is answered, in bytes. */
export const urlBytesMax = 8 * 1024

/** What every request and answer has: a request id, a bounded URL, and room for whoever calls. */
export function registerRequestContext(app: App): void {
  app.decorateRequest('principal', null as unknown as Principal)
  app.addHook('onRoute', (route) => {
    declareAnswers(route, { errors: [errors.urlTooLong], headers: ['X-Request-Id'] })
  })
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id)
  })
  // After the credential and every header that an answer carries, like the other bounds of a request.
  app.addHook('preParsing', async (request) => {
    if (!request.is404 && request.url.length > urlBytesMax) throw errors.urlTooLong()
  })
}
