import { validationKitScope } from '../../kernel/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { ValidationKit, ValidationKitInput, validationKitParts } from './agent.schemas.ts'
import type { KitForm, KitService } from './agent.service.ts'
import { defineTool, readingHints, type AgentTool } from './agent-tool.ts'

/** The form of the kit over MCP: about 16,000 tokens, which fits the context of a model. */
export const mcpForm: KitForm = { bytesMax: 64 * 1024, hasOutline: true }

/** How calls of the validation kit are counted, over MCP and HTTP. */
export const readValidationKit = { name: 'read_validation_kit', did: 'read the validation kit' } as const

export function readValidationKitTool(kit: KitService): AgentTool {
  return defineTool({
    ...readValidationKit,
    title: 'Read the validation kit',
    description:
      'Reads the seeds (early ideas) of the workspace that you have access to, the latest change first: each with ' +
      'its problem, audience, hypothesis, success criteria and status, the numbers of pieces of evidence that support it, ' +
      'contradict it or are neutral, and its newest evidence. Call it without arguments first. A response has at most ' +
      '64 KiB: if it is full, `outline` lists the seeds that are not in `seeds`, and `note` says what is left out and ' +
      'how to read it. Pass seedId for one seed with its evidence; status, query or updatedSince for some of the seeds; ' +
      'cursor, from nextCursor, for the next page. Each argument may be left out, null or empty.',
    scope: validationKitScope,
    action: 'seeds.list',
    input: ValidationKitInput,
    output: ValidationKit,
    parts: validationKitParts,
    hints: readingHints,
    call: (agent, input) => kit.read(agent, input, mcpForm),
    errors: [errors.notFound, errors.cursorInvalid],
    advice: {
      not_found:
        'No seed of this workspace has this seedId. Call read_validation_kit without seedId to list the seeds.',
      cursor_invalid:
        'A cursor continues only the answer that it came from: pass the same seedId, status, query and updatedSince, or ' +
        'leave out cursor to begin again.',
    },
  })
}
