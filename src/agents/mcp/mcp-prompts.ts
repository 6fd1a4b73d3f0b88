import { ProtocolError, ProtocolErrorCode, type Icon, type McpServer } from '@modelcontextprotocol/server'
import type { AgentPrincipal } from '../../domain/agent.ts'
import { isStorable } from '../../kernel/text.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { AgentTool } from '../tools/agent-tool.ts'
import { toProtocolErrors, type CompletedTemplate, type Suggest } from './mcp-resources.ts'

/** A text that a person gives to a prompt. */
export interface PromptArgument {
  name: string
  description: string
  required?: boolean
  /** In UTF-16 code units. */
  lengthMax: number
  suggest?: Suggest
}

/** A task that a person starts from the menu of their program. */
export interface McpPrompt extends Pick<AgentTool, 'scope' | 'title' | 'description'> {
  action: WorkspaceAction
  name: string
  arguments: readonly PromptArgument[]
  /** The task for the model. */
  write(agent: AgentPrincipal, values: Readonly<Record<string, string | undefined>>): string
}

// The most values of one answer (MCP, "Completion").
const valuesMax = 100
const typedLengthMax = 256

const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message)

/**
 * Registers prompts and the completion of their arguments. The SDK takes schemas of Zod for arguments with completion, so
 * the methods are answered here.
 */
export function registerPrompts(
  { server }: McpServer,
  agent: AgentPrincipal,
  options: {
    prompts: readonly McpPrompt[]
    /** The template of resources with completion. */
    findCompleted: () => CompletedTemplate
    iconsOf: (action: McpPrompt['action']) => Icon[]
    listChanged: boolean
    onError: (error: unknown) => void
  },
): void {
  const { prompts, findCompleted, iconsOf, listChanged, onError } = options
  const find = (name: string) => {
    const prompt = prompts.find((each) => each.name === name)
    if (!prompt) throw invalid(`There is no prompt ${JSON.stringify(name)} for you.`)
    return prompt
  }
  const findArgument = (prompt: string, argument: string) =>
    find(prompt).arguments.find(({ name }) => name === argument)
  const findVariable = (uri: string, name: string) => {
    const completed = findCompleted()
    return uri === completed.uriTemplate && name === completed.variable ? completed : undefined
  }
  server.registerCapabilities({ prompts: { listChanged }, completions: {} })

  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ name, title, description, action, arguments: given }) => ({
      name,
      title,
      description,
      icons: iconsOf(action),
      arguments: given.map((argument) => ({
        name: argument.name,
        description: argument.description,
        required: argument.required ?? false,
      })),
    })),
  }))

  server.setRequestHandler('prompts/get', ({ params }) => {
    const prompt = find(params.name)
    const text = prompt.write(agent, readValues(prompt, params.arguments ?? {}))
    return {
      description: prompt.description,
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
    }
  })

  server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }) => {
    const { suggest } =
      (ref.type === 'ref/prompt'
        ? findArgument(ref.name, argument.name)
        : findVariable(ref.uri, argument.name)) ?? {}
    if (!suggest || argument.value.length > typedLengthMax || !isStorable(argument.value))
      return { completion: { values: [], hasMore: false } }
    const values = await toProtocolErrors(suggest(agent, argument.value), '', onError)
    return { completion: { values: values.slice(0, valuesMax), hasMore: values.length > valuesMax } }
  })
}

/** The arguments of a prompt, without blank ones. Throws for what is missing, unknown or too long. */
function readValues(
  { name: prompt, arguments: known }: McpPrompt,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const unknown = Object.keys(given).find((name) => !known.some((argument) => argument.name === name))
  if (unknown !== undefined) throw invalid(`${prompt} has no argument ${JSON.stringify(unknown)}.`)
  const values: Record<string, string> = {}
  for (const { name, required, lengthMax } of known) {
    const value = (given[name] ?? '').trim()
    if (value.length > lengthMax) throw invalid(`${name} is longer than ${lengthMax} characters.`)
    if (value !== '') values[name] = value
    else if (required) throw invalid(`${prompt} needs the argument ${name}.`)
  }
  return values
}
