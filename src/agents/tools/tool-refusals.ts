import { isAllowed } from '../../access/permissions.ts'
import type { AgentPrincipal } from '../../domain/agent.ts'
import { errors, type ApiError } from '../../kernel/errors.ts'
import { roles } from '../../domain/roles.ts'
import { isForRole, mayCall, type AgentTool } from './agent-tool.ts'

/** Why an agent may not call a tool, and what its person can do about it; undefined if it may. */
export function findRefusal(agent: AgentPrincipal, tool: AgentTool): ApiError | undefined {
  if (mayCall(agent, tool)) return undefined
  const { role, user, workspace } = agent
  const { name, action, scope } = tool
  if (action !== undefined && !isAllowed(role, action)) {
    const needed = roles.filter((each) => isAllowed(each, action)).at(-1)
    return errors.roleInsufficient({
      message:
        `${name} needs the role ${needed} or higher; ${user.name} is ${articleOf(role)} ${role} in ${workspace.name}. ` +
        'An owner or admin can change that.',
    })
  }
  if (isReadOnly(agent, tool)) {
    return errors.connectionReadOnly({
      message:
        `${name} makes changes, and this connection only reads: the program sends the header X-MCP-Readonly. Your person ` +
        'can take the header out of the settings of the connection.',
    })
  }
  return errors.insufficientScope({
    message: `${name} needs the scope ${scope}, with what it includes today. Your person can allow it by connecting the agent again.`,
  })
}

/**
 * The scopes, and the version of the consent, that the tools need which a message calls, and which nothing else rules out,
 * with their operations.
 */
export function needsOfCalls(
  tools: readonly AgentTool[],
  agent: AgentPrincipal,
  message: unknown,
): { scopes: AgentTool['scope'][]; consentVersion: number; operationIds: string[] } {
  // With a further scope, the agent still could not call them.
  const called = findCalled(tools, message).filter(
    (tool) => isForRole(tool, agent.role) && !isReadOnly(agent, tool),
  )
  return {
    scopes: called.map(({ scope }) => scope),
    consentVersion: Math.max(0, ...called.map(({ consentVersion = 0 }) => consentVersion)),
    operationIds: called.flatMap(({ http }) => http?.id ?? []),
  }
}

/** The tools that a JSON-RPC message or a batch of them calls. */
export function findCalled(tools: readonly AgentTool[], message: unknown): AgentTool[] {
  const names = [message].flat().map((part) => (isToolCall(part) ? part.params.name : undefined))
  return tools.filter(({ name }) => names.includes(name))
}

/** Whether a JSON-RPC message calls a tool. */
export function isToolCall(message: unknown): message is { params: { name: unknown; arguments?: unknown } } {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: unknown }
  return method === 'tools/call' && typeof params === 'object' && params !== null && 'name' in params
}

function isReadOnly({ onlyReads = false }: AgentPrincipal, { hints }: AgentTool): boolean {
  return onlyReads && !hints.readOnlyHint
}

function articleOf(role: string): string {
  return /^[ao]/.test(role) ? 'an' : 'a'
}
