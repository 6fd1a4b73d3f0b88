import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../domain/principal.ts'
import { declareAnswers } from '../answers/answers.ts'
import type { App } from '../app-types.ts'

/** The maximum length of a URL, in bytes. */
export const urlBytesMax = 8 * 1024

/** Adds the request id and `principal` to requests, and refuses URLs that are too long. */
export function registerRequestContext(app: App): void {
  app.decorateRequest('principal', null as unknown as Principal)
  app.addHook('onRoute', (route) => {
    declareAnswers(route, { errors: [errors.urlTooLong], headers: ['X-Request-Id'] })
  })
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id)
    done()
  })
  // After authentication and the hooks that set response headers, like the other limits of a request.
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (!request.is404 && request.url.length > urlBytesMax) done(errors.urlTooLong())
    else done(null, payload)
  })
}
