import { McpServer, ProtocolErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/server'

type Transport = Parameters<McpServer['connect']>[0]

/**
 * A server whose refusals of parameters are clear. The SDK answers parameters that it cannot read with the code of an
 * internal error, and with the JSON that its library of schemas has for them. Here they are invalid parameters
 * (JSON-RPC 2.0 §5.1), by their paths.
 */
export class ClearMcpServer extends McpServer {
  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport)
    transport.send = (message, ...options) => send(clarify(message), ...options)
    await super.connect(transport)
  }
}

function clarify(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  const paths = readPaths(message.error.message)
  if (!paths) return message
  const text = `Invalid params: ${paths.join(', ') || 'the message'} is missing or of another type than MCP defines.`
  return { ...message, error: { code: ProtocolErrorCode.InvalidParams, message: text } }
}

/** The paths of what is wrong, from the text of an error of schemas; undefined for any other text. */
function readPaths(text: string): string[] | undefined {
  const list = text.slice(Math.max(0, text.indexOf('[')))
  try {
    const issues = JSON.parse(list) as { path: (string | number)[] }[]
    return issues.map(({ path }) => path.join('.'))
  } catch {
    return undefined
  }
}
