import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../app-types.ts'

/**
 * Checks a credential again after the body has been read, if the body was still incomplete at the first check: a caller
 * could delay the last byte until after the credential was revoked. `checkAgain` throws what the first check throws.
 * Returns a function to call after the first check.
 */
export function createLateBodyCheck(
  app: App,
  checkAgain: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): (request: FastifyRequest) => void {
  const late = new WeakSet<FastifyRequest>()
  // The first hook after the body, before the hooks of the route itself.
  app.addHook('preHandler', async (request, reply) => {
    if (late.has(request)) await checkAgain(request, reply)
  })
  return (request) => {
    // Injected requests lack this field. They are complete.
    if ((request.raw.complete as boolean | undefined) === false) late.add(request)
  }
}
