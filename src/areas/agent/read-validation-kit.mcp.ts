import { validationKitScope } from '../../kernel/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { ValidationKit, ValidationKitInput, validationKitParts } from './agent.schemas.ts'
import { kitBytesMax, kitEvidenceMax, kitSeedsMax, type KitService } from './agent.service.ts'
import { defineTool, readingHints, type AgentTool } from './agent-tool.ts'

/**
 * The most bytes of a kit of all seeds over MCP: about 16,000 tokens, which fits the context of a model. A single seed,
 * asked for by its id, has the limit of the HTTP form.
 */
export const mcpKitBytesMax = 64 * 1024

/** How calls of the validation kit are counted, over MCP and HTTP. */
export const readValidationKit = { name: 'read_validation_kit', did: 'read the validation kit' } as const

export function readValidationKitTool(kit: KitService): AgentTool {
  return defineTool({
    ...readValidationKit,
    title: 'Read the validation kit',
    description:
      'Reads the seeds (early ideas) of the workspace that you were allowed into, each with its problem, audience, ' +
      'hypothesis, success criteria and status, the numbers of pieces of evidence that support it, contradict it or are ' +
      `neutral, and its newest evidence. The ${kitSeedsMax} seeds changed last and the ${kitEvidenceMax} newest pieces of ` +
      'evidence of each, as many as fit in 64 KiB; `truncated` tells whether there is more. Give seedId to read one seed ' +
      'alone, with all of that evidence.',
    scope: validationKitScope,
    action: 'seeds.list',
    input: ValidationKitInput,
    output: ValidationKit,
    parts: validationKitParts,
    hints: readingHints,
    call: (agent, input) => kit.read(agent, input, input.seedId === undefined ? mcpKitBytesMax : kitBytesMax),
    errors: [errors.notFound],
    advice: {
      not_found:
        'No seed of this workspace has this seedId. Call read_validation_kit without seedId to see the seeds that there are.',
    },
  })
}
