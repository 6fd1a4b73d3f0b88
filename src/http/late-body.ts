import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app-types.ts'

/**
 * Lets a hook that has accepted a credential have it asked about once more, after the body, if the body was not there
 * yet: a caller could hold its last byte back until long after the credential was revoked. `askAgain` throws what the
 * hook throws. Returns what the hook calls when it has accepted the credential.
 */
export function createLateBodyCheck(
  app: App,
  askAgain: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): (request: FastifyRequest) => void {
  const late = new WeakSet<FastifyRequest>()
  // The first hook after the body: before the handler and everything that a route puts in front of it.
  app.addHook('preHandler', async (request, reply) => {
    if (late.has(request)) await askAgain(request, reply)
  })
  return (request) => {
    // A request that was injected has no such field, and has come whole.
    if ((request.raw.complete as boolean | undefined) === false) late.add(request)
  }
}
