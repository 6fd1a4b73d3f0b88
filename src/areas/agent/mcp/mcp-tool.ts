import type { Static, TObject, TSchema } from '@sinclair/typebox'
import {
  fromJsonSchema,
  type CallToolResult,
  type Icon,
  type jsonSchemaValidator,
  type McpServer,
} from '@modelcontextprotocol/server'
import { createBodyCheck } from '../../../http/requests/validation.ts'
import { ApiError, errors, type ErrorCode } from '../../../kernel/errors.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import { inlined, ownKeywords, type OwnKeywords } from '../../../kernel/schemas.ts'
import type { Turns } from '../../../concurrency/turns.ts'
import type { AgentTool } from '../agent-tool.ts'
import { createIdReader, readInput, repairInput, toArguments } from '../tool-input.ts'
import { findRefusal } from '../tool-refusals.ts'
import type { CallExtra } from './direct-calls.ts'

/** Answers one call of a tool. */
type ToolCall = (extra: CallExtra, input: unknown) => Promise<CallToolResult>

export interface ToolOptions {
  /** Called with unexpected errors. */
  onError: (error: unknown) => void
  /** The turns of users. A call that is not direct waits for one, as the SDK makes all calls of a batch at once. */
  turns: Turns
  icons: Icon[]
  /** The website, whose URLs stand for ids. */
  webUrl: string
}

/** Makes a function that registers a tool with a server. The agent comes with each call, as `CallExtra`. */
export function toolRegistration(tool: AgentTool, options: ToolOptions): (server: McpServer) => void {
  const { name, title, description, hints } = tool
  const inlinedOf = (schema: TSchema) => inlined(schema, tool.parts)
  const config = {
    title,
    description,
    annotations: { title, ...hints },
    icons: options.icons,
    inputSchema: fromJsonSchema(toPublished(inlinedOf(tool.input)), trusting),
    outputSchema: fromJsonSchema(withError(inlinedOf(tool.output)), trusting),
  }
  const call = toolCall(tool, options)
  return (server) => {
    server.registerTool(name, config, (input, { http }) => call(http?.authInfo?.extra as CallExtra, input))
  }
}

// llama.cpp makes a rule of its grammar of each length. Its versions of November 2025 to August 2026 refuse longer ones.
const publishedLengthMax = 1999

/**
 * An input schema as model providers accept it: without patterns, formats and great lengths, which the descriptions say
 * in words. A provider that cannot compile one of them refuses the whole request, with all tools of the conversation
 * (docs/design/tools.md#schemas-for-models). Calls are validated by the whole schema.
 */
function toPublished(schema: Record<string, unknown>): Record<string, unknown> {
  const isPublished = ([keyword, value]: [string, unknown]) =>
    !(typeof value === 'string' && notPublished.has(keyword)) &&
    !(keyword === 'maxLength' && Number(value) > publishedLengthMax) &&
    !(keyword === 'anyOf' && areFormats(value))
  const publish = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(publish)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(brief(value)).filter(isPublished)
    return Object.fromEntries(entries.map(([name, part]) => [name, publish(part)]))
  }
  return publish(schema) as Record<string, unknown>
}

const notPublished = new Set<string>(['pattern', 'format', ...ownKeywords])

/**
 * A schema with what models are told in place of the description. For texts that is only the length: the rest is said
 * by the message to who breaks the rules (docs/design/tools.md#few-tokens).
 */
function brief(schema: object): object {
  const { 'x-model': told, maxLength } = schema as { maxLength?: number } & OwnKeywords
  if (told === undefined) return schema
  const length = Number(maxLength) > publishedLengthMax ? `Up to ${String(maxLength)} characters.` : ''
  // Undefined is no field of the JSON that is sent.
  return { ...schema, description: [told, length].filter(Boolean).join(' ') || undefined }
}

/** Whether a list of alternatives has only formats, which are not published either. */
function areFormats(parts: unknown): boolean {
  return Array.isArray(parts) && parts.every((part: object) => Object.keys(part).join() === 'format')
}

// Inputs are validated by the tool call, whose messages name the fields. Outputs are typed, and tests check them against
// the schema: validating a thousand pieces of evidence at each call would take longer than reading them.
const trusting: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
}

function toolCall(tool: AgentTool, { onError, turns, webUrl }: ToolOptions): ToolCall {
  const readArguments = createArgumentsReader(tool, webUrl)
  return async ({ agent, takeJson }, input) => {
    try {
      const refusal = findRefusal(agent, tool)
      if (refusal) throw refusal
      const given = readArguments(input)
      const endTurn = takeJson ? undefined : await turns.take(agent.user.id)
      try {
        const text = await tool.call(agent, given)
        const structuredContent = takeJson ? takeJson(text) : { ...parseJson(text) }
        return { content: [{ type: 'text', text }], structuredContent }
      } finally {
        endTurn?.()
      }
    } catch (error) {
      // Caught here: the SDK would send the message of any error to the agent.
      const message = describeError(error, tool, onError)
      const structuredContent = { error: { message, ...codeOf(error) } }
      return { content: [{ type: 'text', text: message }], structuredContent, isError: true }
    }
  }
}

/**
 * Makes a function that reads the arguments of a call as the model means them. Those that the schema accepts are not
 * repaired, which costs nothing then.
 * Throws `decode_error`.
 */
function createArgumentsReader(tool: AgentTool, webUrl: string): (input: unknown) => Static<TObject> {
  const schema = inlined(tool.input, tool.parts)
  const findIssues = createBodyCheck(schema)
  const readIds = createIdReader(tool, webUrl)
  return (input) => {
    const given = readIds(readInput(tool, toArguments((input ?? {}) as Record<string, unknown>)))
    if (findIssues(given).length === 0) return given as Static<TObject>
    // Ids again: a list of them may have been a string.
    const repaired = readIds(repairInput(schema as TSchema, given))
    const issues = findIssues(repaired)
    if (issues.length > 0) throw errors.decodeError({ issues })
    return repaired as Static<TObject>
  }
}

/** What programs need to know of an error. Tells nothing of unexpected ones. */
function codeOf(error: unknown): { code: string; retry_after_seconds: number | null } {
  if (!(error instanceof ApiError)) return { code: errors.internal.code, retry_after_seconds: null }
  return { code: error.code, retry_after_seconds: error.retryAfterSeconds ?? null }
}

/**
 * The schema of an answer or an error. Some clients validate the structured content of errors too, so the schema has to
 * allow it. The root stays a closed object, which MCP and clients ask for.
 */
function withError({ properties, required, ...schema }: Record<string, unknown>): Record<string, unknown> {
  const error = {
    type: 'object',
    properties: {
      message: { type: 'string' },
      code: { type: 'string' },
      retry_after_seconds: { type: ['integer', 'null'] },
    },
    required: ['message', 'code', 'retry_after_seconds'],
    additionalProperties: false,
  }
  return {
    ...schema,
    properties: { ...(properties as object), error },
    anyOf: [{ required }, { required: ['error'] }],
  }
}

/** Says what was wrong by name, and what to do next. Tells nothing of unexpected errors. */
function describeError(
  error: unknown,
  { name, input, advice }: AgentTool,
  onError: (error: unknown) => void,
): string {
  if (!(error instanceof ApiError) || error.status >= 500) {
    onError(error)
    const next = error instanceof ApiError ? retryAdvice(error) : ''
    return `${name} failed. This is a fault of the service, not of the arguments. ${next || 'Try again later.'}`
  }
  if (error.code === errors.decodeError.code) {
    const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'the input'} ${message}`)
    const known = Object.keys(input.properties).join(', ')
    return `Invalid arguments for ${name}: ${faults.join('; ')}. Call it again with these arguments only: ${known}.`
  }
  const field = error.field === null ? '' : ` The argument ${error.field} is wrong.`
  const next = advice[error.code as ErrorCode] ?? retryAdvice(error)
  return `${error.message}${field}${next === '' ? '' : ` ${next}`}`
}

function retryAdvice({ retryAfterSeconds }: ApiError): string {
  return retryAfterSeconds === undefined ? '' : `Try again in ${retryAfterSeconds} seconds.`
}
