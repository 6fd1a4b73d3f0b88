import { validationKitScope } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { ValidationKit, ValidationKitInput, validationKitParts } from '../kit/kit.schemas.ts'
import type { KitForm, KitService } from '../kit/kit.service.ts'
import { defineTool, readingHints, type AgentTool } from './agent-tool.ts'

/** The form of the kit over MCP: about 16,000 tokens, which fits the context of a model. */
export const mcpForm: KitForm = { bytesMax: 64 * 1024, hasOutline: true, hasTable: true }

/** The same for our own use, which no model reads. */
export const listForm: KitForm = { ...mcpForm, hasTable: false }

/**
 * What a model reads first (docs/design/tools.md#few-tokens). Over HTTP, where programs read, the default is `full`.
 */
const outline = { detail: 'outline' } as const

/** How calls of the validation kit are counted, over MCP and HTTP. */
export const readValidationKit = { name: 'read_validation_kit', did: 'read the validation kit' } as const

export function readValidationKitTool(kit: KitService): AgentTool {
  return defineTool({
    ...readValidationKit,
    title: 'Read the validation kit',
    description:
      'Reads the seeds (early ideas) of the workspace with the evidence for and against them. Without seedId it lists ' +
      'them in outline. Go on with seedId for all of one seed, or detail: "full" for ' +
      'all texts that fit. `note` says what is left out. Any argument may be absent, null or empty.',
    scope: validationKitScope,
    action: 'seeds.list',
    input: ValidationKitInput,
    output: ValidationKit,
    parts: validationKitParts,
    hasCard: true,
    hints: readingHints,
    call: (agent, input) =>
      kit.read(agent, { ...(input.seedId === undefined && outline), ...input }, mcpForm),
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
