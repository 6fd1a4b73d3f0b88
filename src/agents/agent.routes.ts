import type { FastifyRequest } from 'fastify'
import type { App } from '../http/app-types.ts'
import { operation } from '../http/description/operation.ts'
import { ref } from '../kernel/schemas.ts'
import type { AgentCalls } from './calls/agent-calls.ts'
import type { AgentTool } from './tools/agent-tool.ts'
import { agentReadValidationKit, ValidationKitInput } from './kit/kit.schemas.ts'
import type { KitService } from './kit/kit.service.ts'
import { readValidationKit } from './tools/read-validation-kit.tools.ts'
import { createInputReader } from './tools/tool-input.ts'

/** The operations of agents: the validation kit, and the HTTP forms of the tools. */
export function agentRoutes(
  app: App,
  {
    kit,
    agentTools,
    agentCalls,
  }: { kit: KitService; agentTools: readonly AgentTool[]; agentCalls: AgentCalls },
  { webUrl }: { webUrl: string },
): void {
  app.post(
    // The router reads `::` as a literal colon; a single one starts a parameter.
    '/agent/v1/validation-kit::read',
    {
      schema: agentReadValidationKit,
      config: { optionalBody: true },
      preValidation: readBody({ input: ValidationKitInput }, webUrl),
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
    const options = { schema, config, preValidation: readBody(tool, webUrl) }
    app.post(path, options, ({ agent, body }, reply) => reply.sendJson(tool.call(agent, body)))
  }
}

/** As over MCP, before the body is validated; but a number is no text. */
function readBody(tool: Parameters<typeof createInputReader>[0], webUrl: string) {
  const read = createInputReader(tool, webUrl)
  return async (request: FastifyRequest<{ Body: unknown }>): Promise<void> => {
    request.body = read(request.body)
  }
}
