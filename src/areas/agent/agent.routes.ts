import type { TObject } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { operation } from '../../http/description/operation.ts'
import { ref, withoutBlanks } from '../../kernel/schemas.ts'
import type { AgentCalls } from './agent-calls.ts'
import type { AgentTool } from './agent-tool.ts'
import { agentReadValidationKit, ValidationKitInput } from './agent.schemas.ts'
import type { KitService } from './agent.service.ts'
import { readValidationKit } from './read-validation-kit.mcp.ts'

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
      preValidation: dropBlanks(ValidationKitInput),
    },
    ({ agent, body }, reply) =>
      reply.sendJson(agentCalls.count(agent, readValidationKit, () => kit.read(agent, body))),
  )

  for (const tool of agentTools) {
    const { name, title, description, scope, consentVersion, http, input, emptied, output, errors } = tool
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
    const options = { schema, config, preValidation: dropBlanks(input, emptied) }
    app.post(path, options, ({ agent, body }, reply) => reply.sendJson(tool.call(agent, body)))
  }
}

/** As over MCP, before the body is validated. */
function dropBlanks(input: TObject, emptied?: readonly string[]) {
  return async (request: FastifyRequest<{ Body: unknown }>): Promise<void> => {
    request.body = withoutBlanks(request.body, input, emptied)
  }
}
