import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { isAllowed, type WorkspaceAction } from '../../access/permissions.ts'
import { agentScopes, type AgentPrincipal, type AgentScope } from '../../domain/agent.ts'
import type { ErrorCode, ErrorFactory } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/json-text.ts'
import { roles, type Role } from '../../domain/roles.ts'

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
  /**
   * The row of the permission table: the tool is for the roles that may do this. Undefined for what is the person's own, such
   * as their inbox: for every role.
   */
  action?: WorkspaceAction
  /** The HTTP form. The validation kit has a route of its own, since its limit is larger over HTTP. */
  http?: { id: `agent.${string}`; path: `/agent/v1/${string}`; returns: string }
  /** Null and the empty string count as absent in its fields. */
  input: Input
  /** The fields of the input in which the empty string is a value: it clears a text. */
  emptied?: readonly string[]
  /** Other names of fields, which are not published: of the API, and of before. */
  aliases?: Readonly<Record<string, string>>
  output: Output
  /**
   * What a model needs of the answer to a change: over MCP it gets no more unless it asks for all (`detail: "full"`).
   * Without it, it gets the answer as it is.
   */
  brief?(input: Static<Input>, answer: Static<Output>): BriefAnswer
  /** Whether programs that show pages of servers show the answer as the card of a seed (`src/agents/mcp/seed-card.ts`). */
  hasCard?: true
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
  /**
   * What the person is asked before the call, over MCP, if their client can ask; undefined if nothing. Throws what `call`
   * throws.
   */
  confirm?(agent: AgentPrincipal, input: Static<Input>): Promise<string | undefined>
  /** Throws an ApiError for what the agent can correct. */
  call(agent: AgentPrincipal, input: Static<Input>): Promise<Json<Static<Output>>>
  /** The errors that `call` throws. */
  errors: readonly ErrorFactory[]
  /** What to do next, in a sentence, after an error with this code. */
  advice: Partial<Record<ErrorCode, string>>
}

/** The answer to a change in short. */
export interface BriefAnswer {
  /** The id of what was changed. */
  id: string
  /** What changed, in words. */
  changed: string[]
  url: string
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
  tool: Pick<AgentTool, 'scope' | 'consentVersion' | 'action'> & Partial<Pick<AgentTool, 'hints'>>,
): boolean {
  const { scope, consentVersion = 0, hints } = tool
  if (onlyReads && hints?.readOnlyHint === false) return false
  return grant.scopes.includes(scope) && grant.consentVersion >= consentVersion && isForRole(tool, role)
}

/** Whether a tool or resource is for a role. */
export function isForRole({ action }: Pick<AgentTool, 'action'>, role: Role): boolean {
  return action === undefined || isAllowed(role, action)
}

/**
 * The scopes that agents of a person with a role can use: for one that some tool needs to change something, the role must
 * allow a change, other than those that every role allows, such as following a seed: nobody gives the scope for these alone.
 */
export function scopesOfRole(tools: readonly AgentTool[], role: Role): AgentScope[] {
  return agentScopes.filter((scope) => {
    const ofScope = tools.filter((tool) => tool.scope === scope)
    const changing = ofScope.filter(
      (tool) => !tool.hints.readOnlyHint && !roles.every((each) => isForRole(tool, each)),
    )
    return (changing.length > 0 ? changing : ofScope).some((tool) => isForRole(tool, role))
  })
}

/** Hints of tools that only read. */
export const readingHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const
