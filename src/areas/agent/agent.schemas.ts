import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { closed, named, ref, stringEnum, Timestamp } from '../../http/schemas.ts'
import { roles } from '../../kernel/roles.ts'
import { Evidence, participationFields, seedFields } from '../seeds/seeds.schemas.ts'

/** What is asked of a validation kit. */
export const ValidationKitInput = closed({
  seedId: Type.Optional(
    Type.String({ description: 'The id of one seed, to read that one alone. Without it: all.' }),
  ),
})

const KitSeed = named('ValidationKitSeed', {
  ...seedFields,
  ...participationFields,
  evidenceCounts: closed(
    { supports: Type.Integer(), contradicts: Type.Integer(), neutral: Type.Integer() },
    { description: 'Of all evidence, also of what is not shown.' },
  ),
  evidence: Type.Array(ref(Evidence), { description: 'The 20 newest, newest first.' }),
})

export const ValidationKit = named('ValidationKit', {
  version: Type.Literal('1', { description: 'Of the form of the kit.' }),
  generatedAt: Timestamp,
  workspace: closed(
    { id: Type.String(), name: Type.String(), slug: Type.String() },
    { description: 'The one that the agent was allowed into.' },
  ),
  grant: closed(
    {
      id: Type.String(),
      clientName: Type.String(),
      userId: Type.String({ description: 'On whose behalf the agent acts.' }),
      userName: Type.String(),
      role: stringEnum(roles),
      scopes: Type.Array(Type.String()),
      expiresAt: Timestamp,
    },
    { description: 'What the agent was allowed, and by whom.' },
  ),
  seeds: Type.Array(ref(KitSeed), { description: 'The 50 whose change is the latest, latest first.' }),
  truncated: Type.Boolean({ description: 'Whether there are more seeds or evidence than are shown.' }),
})

export const agentSchemas = [KitSeed, ValidationKit]

/** Every named schema that a validation kit is made of. */
export const validationKitParts = [Evidence, KitSeed]

export const readValidationKit = operation({
  id: 'agent.readValidationKit',
  summary: 'Read the validation kit',
  description:
    'The seeds of the workspace that the agent was allowed into, and what speaks for and against them. The HTTP form of ' +
    'the MCP tool `read_validation_kit`. The body may be left out.',
  body: ValidationKitInput,
  success: ref(ValidationKit),
})
