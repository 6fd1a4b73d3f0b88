import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AgentPrincipal } from '../../kernel/agent.ts'
import type { Json } from '../../kernel/json-text.ts'
import type { App } from '../app-types.ts'

/** Handles the MCP messages of agents. */
export interface McpHandler {
  /** What the tools need which a message calls. `message` is parsed JSON, or undefined if it is invalid. */
  needsOf(message: unknown): { scopes: readonly string[]; consentVersion: number }
  /** The response to a single call in its plainest form; undefined for every other message, which `answer` is for. */
  answerCall(
    headers: IncomingHttpHeaders,
    agent: AgentPrincipal,
    message: unknown,
  ): Promise<Json<object> | undefined>
  answer(request: Request, agent: AgentPrincipal, message: unknown): Promise<Response>
  /** Ends the streams on which agents wait for changes. */
  close(): Promise<void>
}

/**
 * The MCP endpoint (Streamable HTTP). The handler parses the JSON, since JSON-RPC defines the response to invalid JSON.
 * There are no sessions, so GET and DELETE return 405. With `X-MCP-Readonly: true` there are only tools that read.
 */
export function mcpRoutes(app: App, handler: McpHandler, url: string, resource: string): void {
  app.removeAllContentTypeParsers()
  // Streams would hold up the stop of the process.
  app.addHook('preClose', () => handler.close())
  // What is not UTF-8 stays bytes.
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, isUtf8(body) ? body.toString('utf8') : body),
  )
  // Some clients add a slash to the URL that they are given.
  for (const spelling of [url, `${url}/`]) {
    app.post(spelling, { schema: { hide: true }, config: { openBody: true } }, async (request, reply) => {
      if (Buffer.isBuffer(request.body)) return reply.code(400).send(notUtf8)
      const message = parse(request.body)
      const { scopes, consentVersion } = handler.needsOf(message)
      reply.requireAgentScopes(scopes, consentVersion)
      const headers = withAllTypes(request.headers)
      const agent = { ...request.agent, onlyReads: headers['x-mcp-readonly'] === 'true' }
      const json = await handler.answerCall(headers, agent, message)
      if (json !== undefined) return reply.sendJson(json)
      const webRequest = toWebRequest(request, headers, reply, resource)
      return send(reply, await handler.answer(webRequest, agent, message))
    })
    for (const method of ['GET', 'DELETE'] as const) {
      app.route({
        method,
        url: spelling,
        schema: { hide: true },
        handler: async (_request, reply) => reply.code(405).header('allow', 'POST').send(),
      })
    }
  }
}

/** RFC 8259 §8.1; the code is that of invalid JSON (JSON-RPC 2.0 §5.1). */
const notUtf8 = { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error: must be UTF-8' }, id: null }

/** Sends JSON as text, which can be compressed, and event streams as they come. */
async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  // Node.js manages the connection (RFC 9110 §7.6.1). With this header a client that asked to close it would wait.
  answer.headers.delete('connection')
  // The SDK's `no-cache` for event streams would replace `private, no-store`.
  answer.headers.delete('cache-control')
  if (answer.headers.get('content-type')?.startsWith('application/json') !== true) return reply.send(answer)
  return reply
    .code(answer.status)
    .headers(Object.fromEntries(answer.headers))
    .serializer((text: unknown) => text as string)
    .send(await answer.text())
}

function parse(body: unknown): unknown {
  try {
    return JSON.parse(String(body))
  } catch {
    return undefined
  }
}

// The SDK looks for the names of both types, but no `Accept`, and `*/*`, accept all types (RFC 9110 §12.5.1).
function withAllTypes(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { accept } = headers
  return accept === undefined || /(^|,)\s*\*\/\*\s*(,|;|$)/.test(accept)
    ? { ...headers, accept: 'application/json, text/event-stream' }
    : headers
}

function toWebRequest(
  request: FastifyRequest,
  given: IncomingHttpHeaders,
  reply: FastifyReply,
  resource: string,
): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) {
    for (const part of [value ?? []].flat()) headers.append(name, part)
  }
  const abort = new AbortController()
  // A client that disconnects ends the work.
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) abort.abort()
  })
  const body = typeof request.body === 'string' ? request.body : ''
  return new Request(resource, { method: 'POST', headers, body, signal: abort.signal })
}
