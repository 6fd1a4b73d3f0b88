import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { isAllowed, type WorkspaceAction } from '../../access/permissions.ts'
import { agentScopes, type AgentPrincipal, type AgentScope } from '../../domain/agent.ts'
import type { ErrorCode, ErrorFactory } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/json-text.ts'
import type { Role } from '../../domain/roles.ts'

/** What an agent can do: an MCP tool, and an operation of the HTTP API with the same input and output. */
export interface AgentTool<Input extends TObject = TObject, Output extends TObject = TObject> {
  /** The name over MCP. */
  name: string
  title: string
  /** What the tool does and when to call it, for a model. */
  description: string
  /** What an agent did with it, as the end of a sentence: `read the validation kit`. */
  did: string
  /** The scope that a grant must have for the tool. */
  scope: AgentScope
  /** The version of the consent since which the scope includes the tool. Default: always. */
  consentVersion?: number
  /** The row of the permission table: the tool is for the roles that may do this. */
  action: WorkspaceAction
  /** The HTTP form. The validation kit has a route of its own, since its limit is larger over HTTP. */
  http?: { id: `agent.${string}`; path: `/agent/v1/${string}`; returns: string }
  /** Null and the empty string count as absent in its fields. */
  input: Input
  /** The fields of the input in which the empty string is a value: it clears a text. */
  emptied?: readonly string[]
  /** Other names of fields, which are not published: of the API, and of before. */
  aliases?: Readonly<Record<string, string>>
  output: Output
  /** The named schemas that the input and the output refer to. */
  parts: readonly TSchema[]
  hints: {
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
    openWorldHint: boolean
  }
  /** The id of the seed that a call is about, for people who look at what the agent did. Default: `seedId` of the input. */
  seedOf?(input: Static<Input>, answer: Json<Static<Output>> | undefined): string | undefined
  /** Throws an ApiError for what the agent can correct. */
  call(agent: AgentPrincipal, input: Static<Input>): Promise<Json<Static<Output>>>
  /** The errors that `call` throws. */
  errors: readonly ErrorFactory[]
  /** What to do next, in a sentence, after an error with this code. */
  advice: Partial<Record<ErrorCode, string>>
}

/** Types a tool by its schemas, and returns it as one of a list of tools. */
export function defineTool<Input extends TObject, Output extends TObject>(
  tool: AgentTool<Input, Output>,
): AgentTool {
  return tool
}

/**
 * Whether the grant of an agent has the scope of a tool or resource, and the person the role for it. A tool that changes
 * something is not for a request that only reads.
 */
export function mayCall(
  { grant, role, onlyReads = false }: AgentPrincipal,
  {
    scope,
    consentVersion = 0,
    action,
    hints,
  }: Pick<AgentTool, 'scope' | 'consentVersion' | 'action'> & Partial<Pick<AgentTool, 'hints'>>,
): boolean {
  if (onlyReads && hints?.readOnlyHint === false) return false
  return grant.scopes.includes(scope) && grant.consentVersion >= consentVersion && isAllowed(role, action)
}

/**
 * The scopes that agents of a person with a role can use: for one that some tool needs to change something, the role must
 * allow a change.
 */
export function scopesOfRole(tools: readonly AgentTool[], role: Role): AgentScope[] {
  return agentScopes.filter((scope) => {
    const ofScope = tools.filter((tool) => tool.scope === scope)
    const changing = ofScope.filter(({ hints }) => !hints.readOnlyHint)
    return (changing.length > 0 ? changing : ofScope).some(({ action }) => isAllowed(role, action))
  })
}

/** Hints of tools that only read. */
export const readingHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const
