import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox'
import {
  fromJsonSchema,
  type CallToolResult,
  type InputRequiredResult,
  type jsonSchemaValidator,
  type McpServer,
} from '@modelcontextprotocol/server'
import { createBodyCheck } from '../../http/requests/validation.ts'
import { ApiError, errors } from '../../kernel/errors.ts'
import { parseJson, toJson, type Json } from '../../kernel/json-text.ts'
import { closed, inlined, listIn, ownKeywords, type OwnKeywords } from '../../kernel/schemas.ts'
import type { TextRule } from '../../kernel/text.ts'
import type { AgentPrincipal } from '../../domain/agent.ts'
import type { Turns } from '../../concurrency/turns.ts'
import type { AgentTool, BriefAnswer } from '../tools/agent-tool.ts'
import { codeOfError, explainError, explainFault, isRefusal } from '../tools/tool-errors.ts'
import { createInputReader, repairInput, toArguments } from '../tools/tool-input.ts'
import { findRefusal } from '../tools/tool-refusals.ts'
import type { CallRound, Confirmations } from './confirmations.ts'
import type { CallExtra } from './direct-calls.ts'
import type { McpDocument } from './mcp-resources.ts'

/** Answers one call of a tool. */
type ToolCall = (
  extra: CallExtra,
  input: unknown,
  round: CallRound,
) => Promise<CallToolResult | InputRequiredResult>

export interface ToolOptions {
  /** Called with unexpected errors. */
  onError: (error: unknown) => void
  /** The turns of users. A call that is not direct waits for one, as the SDK makes all calls of a batch at once. */
  turns: Turns
  confirmations: Confirmations
  /** The website, whose URLs stand for ids. */
  webUrl: string
  /** The page for the answers of tools with `hasCard`. */
  card: Pick<McpDocument, 'uri'>
}

/**
 * Makes a function that registers a tool with a server. The agent comes with each call, as `CallExtra`. `hasCards`: the
 * client shows the card.
 */
export function toolRegistration(
  tool: AgentTool,
  options: ToolOptions,
): (server: McpServer, hasCards?: boolean) => void {
  const { name, title, description, hints } = tool
  const linked = { _meta: { ui: { resourceUri: options.card.uri } } }
  const inlinedOf = (schema: TSchema) => inlined(schema, tool.parts)
  const config = {
    title,
    description,
    annotations: hints,
    inputSchema: fromJsonSchema(toPublished(inlinedOf(inputOf(tool))), trusting),
    outputSchema: fromJsonSchema(namesOf(tool), trusting),
  }
  const call = toolCall(tool, options)
  return (server, hasCards = false) => {
    const ofServer = hasCards && tool.hasCard === true ? { ...config, ...linked } : config
    server.registerTool(name, ofServer, (input, { http, mcpReq }) =>
      call(http?.authInfo?.extra as CallExtra, input, mcpReq),
    )
  }
}

const detail = Type.Optional(Type.String({ enum: ['short', 'full'], description: 'Default short.' }))

/** The input over MCP: of changes whose answers are brief also how much the answer has. */
function inputOf(tool: AgentTool): TObject {
  return tool.brief ? closed({ ...tool.input.properties, detail }) : tool.input
}

/**
 * The names of the fields of answers. Clients read their schemas with each list, and some drop tools when lists are long:
 * all of their schemas are in the API description (docs/design/tools.md#few-tokens). None is required, since an error has
 * only `error`, and some clients validate errors too.
 */
function namesOf(tool: AgentTool): Record<string, unknown> {
  const names = [...(tool.brief ? briefNames : []), ...Object.keys(tool.output.properties), 'error']
  const properties = Object.fromEntries(names.map((name) => [name, {}]))
  return { type: 'object', properties, additionalProperties: false }
}

const briefNames = ['id', 'changed'] satisfies (keyof BriefAnswer)[]

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
    !(typeof value === 'number' && saidByErrors.has(keyword)) &&
    !(keyword === 'maxLength' && Number(value) > publishedLengthMax)
  const publish = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(publish)
    if (typeof value !== 'object' || value === null) return value
    if ('anyOf' in value && areFormats(value.anyOf))
      return publish({ type: 'string', ...value, anyOf: undefined })
    const list = listIn(value as TSchema)
    if (list) return publish({ ...list, description: (value as TSchema).description })
    // Only lengths of texts that a model writes: it copies ids and cursors, and looks for a few words.
    const isText = 'x-text' in value && value['x-text'] !== ('query' satisfies TextRule)
    const entries = Object.entries(brief(value)).filter(
      (entry) => isPublished(entry) && (isText || entry[0] !== 'maxLength'),
    )
    return Object.fromEntries(entries.map(([name, part]) => [name, publish(part)]))
  }
  return publish(schema) as Record<string, unknown>
}

const notPublished = new Set<string>(['pattern', 'format', ...ownKeywords])
/** What errors say. */
const saidByErrors = new Set([
  'minimum',
  'minLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
])

/**
 * A schema with what models are told in place of the description. For texts that is only the length: the rest is said
 * by the message to who breaks the rules (docs/design/tools.md#few-tokens).
 */
function brief(schema: object): object {
  const { 'x-model': told, 'x-text': rule, maxLength } = schema as { maxLength?: number } & OwnKeywords
  if (told === undefined) return schema
  // A URL is copied, not written to a length.
  const isLong = rule !== 'url' && Number(maxLength) > publishedLengthMax
  const length = isLong ? `Up to ${String(maxLength)}.` : ''
  // Undefined is no field of the JSON that is sent.
  return { ...schema, description: [told, length].filter(Boolean).join(' ') || undefined }
}

/** Whether alternatives are texts that differ in their formats, which are not published either. */
function areFormats(parts: unknown): boolean {
  return Array.isArray(parts) && parts.every((part: object) => Object.keys(part).join() === 'type,format')
}

/**
 * Validates nothing. Inputs are validated by the tool call, whose messages name the fields. Outputs are typed, and tests
 * check them against the schema: validating a thousand pieces of evidence at each call would take longer than reading them.
 */
export const trusting: jsonSchemaValidator = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
}

function toolCall(tool: AgentTool, { onError, turns, webUrl, confirmations }: ToolOptions): ToolCall {
  const readArguments = createArgumentsReader(tool, webUrl)
  return async ({ agent, takeJson }, input, round) => {
    const note = (code?: string) => tool.http && agent.noteCall?.(tool.http.id, input, code)
    try {
      const refusal = findRefusal(agent, tool)
      if (refusal) throw refusal
      const given = readArguments(input)
      if (tool.confirm && confirmations.canAsk(round)) {
        const confirmed = { agent, tool: tool.name, input: given }
        const asked = await confirmations.ask(confirmed, round, async () => tool.confirm?.(agent, given))
        if (asked) return asked
      }
      const endTurn = takeJson ? undefined : await turns.take(agent.user.id)
      try {
        const text = await callTool(tool, agent, given)
        note()
        const structuredContent = takeJson ? takeJson(text) : { ...parseJson(text) }
        return { content: [{ type: 'text', text }], structuredContent }
      } finally {
        endTurn?.()
      }
    } catch (error) {
      // Caught here: the SDK would send the message of any error to the agent.
      const message = describeError(error, tool, onError)
      const failure = codeOf(error)
      note(failure.code)
      const structuredContent = { error: { message, ...failure } }
      return { content: [{ type: 'text', text: message }], structuredContent, isError: true }
    }
  }
}

/** The answer to a call as JSON, in short if it is one of a change, and not all of it is asked for. */
async function callTool(
  tool: AgentTool,
  agent: AgentPrincipal,
  given: Static<TObject>,
): Promise<Json<object>> {
  if (!tool.brief) return tool.call(agent, given)
  const { detail: asked, ...input } = given as Static<TObject> & { detail?: string }
  const answer = await tool.call(agent, input)
  return asked === 'full' ? answer : toJson(tool.brief(input, parseJson(answer)))
}

/**
 * Makes a function that reads the arguments of a call as the model means them. Those that the schema accepts are not
 * repaired, which costs nothing then.
 * Throws `decode_error`.
 */
function createArgumentsReader(tool: AgentTool, webUrl: string): (input: unknown) => Static<TObject> {
  const schema = inlined(inputOf(tool), tool.parts)
  const findIssues = createBodyCheck(schema)
  const read = createInputReader({ ...tool, input: inputOf(tool) }, webUrl)
  return (input) => {
    const given = read(toArguments((input ?? {}) as Record<string, unknown>))
    if (findIssues(given).length === 0) return given as Static<TObject>
    // Again: a list of ids, or of entries with ids, may have been a string.
    const repaired = read(repairInput(schema as TSchema, given))
    const issues = findIssues(repaired)
    if (issues.length > 0) throw errors.decodeError({ issues })
    return repaired as Static<TObject>
  }
}

/** What programs need to know of an error. Tells nothing of unexpected ones. */
function codeOf(error: unknown): { code: string; retry_after_seconds: number | null } {
  const retryAfterSeconds = error instanceof ApiError ? error.retryAfterSeconds : undefined
  return { code: codeOfError(error), retry_after_seconds: retryAfterSeconds ?? null }
}

/** Says what was wrong by name, and what to do next. Tells nothing of unexpected errors. */
function describeError(error: unknown, tool: AgentTool, onError: (error: unknown) => void): string {
  const { name, advice } = tool
  if (!isRefusal(error)) {
    onError(error)
    return `${name} failed. ${explainFault(error)}`
  }
  if (error.code === errors.decodeError.code) {
    const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'the input'} ${message}`)
    const known = Object.keys(inputOf(tool).properties).join(', ')
    return `Invalid arguments for ${name}: ${faults.join('; ')}. Call it again with these arguments only: ${known}.`
  }
  return explainError(error, advice)
}
