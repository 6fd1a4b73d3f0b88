import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AgentPrincipal } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/json-text.ts'
import type { App } from '../app-types.ts'

/** Handles the MCP messages of agents. */
export interface McpHandler {
  /**
   * What the tools need which a message calls, and which a further consent of the person would let the agent call, with
   * their operations.
   * `message` is parsed JSON, or undefined if it is invalid.
   */
  needsOf(
    agent: AgentPrincipal,
    message: unknown,
  ): { scopes: readonly string[]; consentVersion: number; operationIds: readonly string[] }
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
 * Nothing is kept of sessions, so GET and DELETE return 405. With `X-MCP-Readonly` there are only tools that read. Clients
 * that accept JSON alone get JSON in place of event streams with one message.
 */
export function mcpRoutes(app: App, handler: McpHandler, url: string, resource: string): void {
  addTextParser(app)
  // Streams would hold up the stop of the process.
  app.addHook('preClose', () => handler.close())
  // Some clients add a slash to the URL that they are given.
  for (const spelling of [url, `${url}/`]) {
    app.post(spelling, { schema: { hide: true }, config: { openBody: true } }, async (request, reply) => {
      if (Buffer.isBuffer(request.body)) return reply.code(400).send(notUtf8)
      const message = parse(request.body)
      const agent: AgentPrincipal = {
        ...request.agent,
        onlyReads: isOn(request.headers['x-mcp-readonly']),
        noteCall: (...call) => request.recordCall(...call),
      }
      const { scopes, consentVersion, operationIds } = handler.needsOf(agent, message)
      try {
        reply.requireAgentScopes(scopes, consentVersion, oldConsent)
      } catch (error) {
        for (const id of operationIds) request.recordCall(id, {}, errors.insufficientScope.code)
        throw error
      }
      const isJsonAlone = takesJsonAlone(request.headers, message)
      const headers = withAllTypes(request.headers, isJsonAlone)
      const json = await handler.answerCall(headers, agent, message)
      if (json !== undefined) return reply.sendJson(json)
      const webRequest = toWebRequest(request, headers, reply, resource)
      const answer = await handler.answer(webRequest, agent, message)
      return send(reply, isJsonAlone ? await toJsonAnswer(answer, Array.isArray(message)) : answer)
    })
    for (const method of ['GET', 'DELETE'] as const) {
      app.route({
        method,
        url: spelling,
        schema: { hide: true },
        // Whatever body there is: another method is what the client needs to be told.
        config: { openBody: true },
        handler: async (_request, reply) => reply.code(405).header('allow', 'POST').send(),
      })
    }
  }
}

/**
 * Answers MCP messages to the root of the service, whose URL people paste in place of that of the endpoint, with an error
 * that names the endpoint. Its status is 200: after others, clients try the transport of earlier revisions, and show its
 * failure in place of the message.
 */
export function mcpHintRoute(app: App, resource: string): void {
  addTextParser(app)
  app.post('/', { schema: { hide: true }, config: { openBody: true } }, async ({ body }, reply) => {
    const message = parse(body) as Partial<Record<'jsonrpc' | 'method' | 'id', unknown>> | null | undefined
    if (message?.jsonrpc !== '2.0' || typeof message.method !== 'string') {
      reply.callNotFound()
      return reply
    }
    // A notification has no response (JSON-RPC 2.0 §4.1).
    if (message.id === undefined) return reply.code(202).send()
    const text = `This URL is the website, not the MCP server. Use ${resource} instead.`
    return reply.send({ jsonrpc: '2.0', error: { code: -32600, message: text }, id: message.id })
  })
}

/** Parses bodies of any type as text, but leaves bytes that are not UTF-8. */
function addTextParser(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, isUtf8(body) ? body.toString('utf8') : body),
  )
}

const oldConsent =
  'The person agreed to this scope before it included this tool. They can allow it by connecting the agent again.'

/** Whether a header is on: with any value but one that means no, as that of GitHub's MCP server, whose header it is. */
function isOn(header: string | string[] | undefined): boolean {
  return !/^(?:false|0|no|off|n|f)?$/i.test(String(header ?? '').trim())
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
function withAllTypes(headers: IncomingHttpHeaders, isJsonAlone: boolean): IncomingHttpHeaders {
  const { accept } = headers
  return accept === undefined || isJsonAlone || /(^|,)\s*\*\/\*\s*(,|;|$)/.test(accept)
    ? { ...headers, accept: 'application/json, text/event-stream' }
    : headers
}

/** Whether a client accepts JSON and no event stream, for a message whose answer is no stream. */
function takesJsonAlone({ accept = '' }: IncomingHttpHeaders, message: unknown): boolean {
  const isStream = (message as { method?: unknown } | null | undefined)?.method === 'subscriptions/listen'
  return /(^|,)\s*application\/(json|\*)/i.test(accept) && !/text\/|\*\/\*/.test(accept) && !isStream
}

/** The messages of an event stream as JSON; any other answer as it is. */
async function toJsonAnswer(answer: Response, isBatch: boolean): Promise<Response> {
  if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true) return answer
  const messages = [...(await answer.text()).matchAll(/^data: (.+)$/gm)].map(([, message]) => message)
  const headers = new Headers(answer.headers)
  headers.set('content-type', 'application/json')
  // For streams.
  headers.delete('x-accel-buffering')
  return new Response(isBatch ? `[${messages.join()}]` : messages.at(-1), { status: answer.status, headers })
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
