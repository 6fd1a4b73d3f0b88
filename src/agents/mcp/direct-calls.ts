import {
  classifyInboundRequest,
  isJsonContentType,
  PerRequestHTTPServerTransport,
  SUPPORTED_PROTOCOL_VERSIONS,
  type AuthInfo,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpServer,
  type MessageClassification,
} from '@modelcontextprotocol/server'
import type { IncomingHttpHeaders } from 'node:http'
import type { AgentPrincipal } from '../../domain/agent.ts'
import { toJson, type Json } from '../../kernel/json-text.ts'
import type { AgentTool } from '../tools/agent-tool.ts'

/** The revision whose requests each say who asks. Conversations of earlier ones begin with `initialize`. */
const latestRevision = '2026-07-28'

/** The revisions that servers of direct calls support. The SDK binds a server to the latest one only if it is named. */
export const directRevisions = [latestRevision, ...SUPPORTED_PROTOCOL_VERSIONS]

/** A single call of a tool in its plainest form. */
export interface DirectCall {
  message: JSONRPCRequest & { params: { name: string } }
  classification: MessageClassification
}

/** What a call brings along for its tool, as `extra` of the SDK's `authInfo`. */
export interface CallExtra extends Record<string, unknown> {
  agent: AgentPrincipal
  /** The tools that the message calls and that the agent does not have, whose answer says why. */
  refused?: readonly AgentTool[]
  /** Whether the client shows cards of seeds (`src/agents/mcp/seed-card.ts`). */
  hasCards?: boolean
  /** Of a direct call: receives the structured content as JSON, and returns what the SDK gets to see in its place. */
  takeJson?: (json: string) => Record<string, never>
}

/**
 * The direct call of a request; undefined for everything else, and for whatever the SDK might refuse
 * (docs/design/tools.md#direct-calls). The SDK says to which era of the protocol a message belongs.
 */
export function toDirectCall(headers: IncomingHttpHeaders, message: unknown): DirectCall | undefined {
  if (!isPlainCall(message) || !acceptsBothTypes(headers) || !isJsonContentType(headers['content-type']))
    return undefined
  const { version, method, name } = protocolHeadersOf(headers)
  const route = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(version !== undefined && { protocolVersionHeader: version }),
    ...(method !== undefined && { mcpMethodHeader: method }),
    ...(name !== undefined && { mcpNameHeader: name }),
  })
  if (route.kind === 'legacy') {
    const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
    if (route.reason !== 'no-claim' || !isKnown) return undefined
    return { message, classification: { era: 'legacy' } }
  }
  if (route.kind !== 'modern' || route.classification.revision !== latestRevision) return undefined
  if (version !== latestRevision || method !== message.method || name !== message.params.name)
    return undefined
  return { message, classification: route.classification }
}

const plainParams = ['name', 'arguments', '_meta']

/** Whether a message has the parameters of a call, and no others. */
function isPlainCall(message: unknown): message is DirectCall['message'] {
  if (!isObject(message) || !('id' in message) || message.method !== 'tools/call') return false
  const { params } = message
  return (
    isObject(params) &&
    typeof params.name === 'string' &&
    (params.arguments === undefined || isObject(params.arguments)) &&
    Object.keys(params).every((key) => plainParams.includes(key))
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// As the SDK looks for them.
function acceptsBothTypes({ accept = '' }: IncomingHttpHeaders): boolean {
  return accept.includes('application/json') && accept.includes('text/event-stream')
}

function protocolHeadersOf(headers: IncomingHttpHeaders) {
  const [version, method, name] = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map((header) =>
    headers[header]?.toString(),
  )
  return { version, method, name }
}

/** A call that waits for its response. */
interface Waiting {
  id: JSONRPCRequest['id']
  /** The structured content as JSON. */
  json?: string
  resolve: (response: Json<object>) => void
}

/**
 * Connects a server with the direct calls of all agents. Each call has a number of its own, to which the server responds.
 * The class extends the SDK's transport of one request, since the SDK binds a server to the latest revision by that alone.
 */
class DirectTransport extends PerRequestHTTPServerTransport {
  readonly #waiting = new Map<unknown, Waiting>()
  #last = 0

  /** Answers a call of an agent, as JSON. */
  call({ message, classification }: DirectCall, authInfo: AuthInfo): Promise<Json<object>> {
    const number = (this.#last += 1)
    return new Promise((resolve) => {
      const waiting: Waiting = { id: message.id, resolve }
      this.#waiting.set(number, waiting)
      const takeJson = (json: string) => {
        waiting.json = json
        return {}
      }
      this.onmessage?.(
        { ...message, id: number },
        { classification, authInfo: { ...authInfo, extra: { ...authInfo.extra, takeJson } } },
      )
    })
  }

  /** Receives the responses of the server. */
  override async send(message: JSONRPCMessage): Promise<void> {
    if (!('id' in message)) return
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    waiting?.resolve(toText(message, waiting))
  }
}

/** A response under the id of the client. The structured content is put in as PostgreSQL made it. */
function toText(message: JSONRPCMessage, { id, json }: Waiting): Json<object> {
  if (json === undefined || !('result' in message)) return toJson({ ...message, id })
  const rest = JSON.stringify({ ...message.result, structuredContent: undefined })
  const result = `{"structuredContent":${json},${rest.slice(1)}`
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}` as Json<object>
}

/** Answers direct calls by servers that are kept: one for each set of tools and era. */
export function createDirectServers(
  createServer: (tools: readonly AgentTool[]) => McpServer,
): (call: DirectCall, tools: readonly AgentTool[], authInfo: AuthInfo) => Promise<Json<object>> {
  const transports = new Map<string, Promise<DirectTransport>>()

  async function connect(tools: readonly AgentTool[], { classification }: DirectCall) {
    const transport = new DirectTransport({ classification })
    await createServer(tools).connect(transport)
    return transport
  }

  return async (call, tools, authInfo) => {
    const key = [call.classification.era, ...tools.map(({ name }) => name)].join(' ')
    let transport = transports.get(key)
    if (!transport) {
      transport = connect(tools, call)
      transports.set(key, transport)
    }
    return (await transport).call(call, authInfo)
  }
}
