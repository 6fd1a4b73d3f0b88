import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AgentPrincipal } from '../kernel/agent.ts'
import type { App } from './app-types.ts'

/** Answers an MCP message of an agent. */
export type McpHandler = (request: Request, agent: AgentPrincipal) => Promise<Response>

const messageBytesMax = 256 * 1024

/**
 * The MCP endpoint (Streamable HTTP). The handler reads the JSON itself: a message that is none is answered as JSON-RPC
 * has it. GET and DELETE, which are for sessions and there are none, are 405 to whoever has shown a token.
 */
export function mcpRoutes(app: App, handle: McpHandler, url: string, resource: string): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.post(
    url,
    { bodyLimit: messageBytesMax, schema: { hide: true }, config: { openBody: true } },
    async (request, reply) => {
      const answer = await handle(toWebRequest(request, reply, resource), request.agent)
      // Whether the connection stays is the server's matter (RFC 9110 §7.6.1): a client that asked to close it waits.
      answer.headers.delete('connection')
      return reply.send(answer)
    },
  )
  for (const method of ['GET', 'DELETE'] as const) {
    app.route({
      method,
      url,
      schema: { hide: true },
      handler: async (_request, reply) => reply.code(405).header('allow', 'POST').send(),
    })
  }
}

function toWebRequest(request: FastifyRequest, reply: FastifyReply, resource: string): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    for (const part of [value ?? []].flat()) headers.append(name, part)
  }
  const abort = new AbortController()
  // A client that hangs up has no use for the rest.
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) abort.abort()
  })
  const body = typeof request.body === 'string' ? request.body : ''
  return new Request(resource, { method: 'POST', headers, body, signal: abort.signal })
}
