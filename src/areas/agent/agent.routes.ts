import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { operation } from '../../http/description/operation.ts'
import { ref } from '../../kernel/schemas.ts'
import type { AgentCalls } from './agent-calls.ts'
import type { AgentTool } from './agent-tool.ts'
import { agentReadValidationKit, ValidationKitInput } from './agent.schemas.ts'
import type { KitService } from './agent.service.ts'
import { readValidationKit } from './read-validation-kit.mcp.ts'
import { readInput } from './tool-input.ts'

/** The operations of agents: the validation kit, and the HTTP forms of the tools. */
export function agentRoutes(
  app: App,
  {
    kit,
    agentTools,
    agentCalls,
  }: { kit: KitService; agentTools: readonly AgentTool[]; agentCalls: AgentCalls },
): void {
  app.post(
    // The router reads `::` as a literal colon; a single one starts a parameter.
    '/agent/v1/validation-kit::read',
    {
      schema: agentReadValidationKit,
      config: { optionalBody: true },
      preValidation: readBody({ input: ValidationKitInput }),
    },
    ({ agent, body }, reply) =>
      reply.sendJson(agentCalls.count(agent, readValidationKit, body, () => kit.read(agent, body))),
  )

  for (const tool of agentTools) {
    const { name, title, description, scope, consentVersion, http, input, output, errors } = tool
    if (!http) continue
    const { id, path, returns } = http
    const schema = operation({
      id,
      summary: title,
      description: `${description} The HTTP form of the MCP tool \`${name}\`, with the scope \`${scope}\`.`,
      body: input,
      success: ref(output),
      returns,
      errors,
    })
    const config = { agentScope: scope, ...(consentVersion !== undefined && { consentVersion }) }
    const options = { schema, config, preValidation: readBody(tool) }
    app.post(path, options, ({ agent, body }, reply) => reply.sendJson(tool.call(agent, body)))
  }
}

/** As over MCP, before the body is validated; but a number is no text. */
function readBody(tool: Parameters<typeof readInput>[0]) {
  return async (request: FastifyRequest<{ Body: unknown }>): Promise<void> => {
    request.body = readInput(tool, request.body)
  }
}
