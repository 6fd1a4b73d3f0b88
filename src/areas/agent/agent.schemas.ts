import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/examples.ts'
import { operation } from '../../http/operation.ts'
import { validationKitScope } from '../../kernel/agent.ts'
import { closed, exampleOf, named, ref, Role, Timestamp } from '../../kernel/schemas.ts'
import { errors } from '../../kernel/errors.ts'
import { Evidence, exampleSeed, participationFields, seedFields } from '../seeds/seeds.schemas.ts'

/** The input of the validation kit. */
export const ValidationKitInput = closed(
  {
    seedId: Type.Optional(
      Type.String({ description: 'The id of one seed, to read that one alone. Without it: all.' }),
    ),
  },
  { examples: [{ seedId: exampleIds.seed }] },
)

const KitSeed = named(
  'ValidationKitSeed',
  {
    ...seedFields,
    ...participationFields,
    evidenceCounts: closed(
      { supports: Type.Integer(), contradicts: Type.Integer(), neutral: Type.Integer() },
      { description: 'Of all evidence, including what is not shown.' },
    ),
    evidence: Type.Array(ref(Evidence), { description: 'The 20 newest, newest first, as many as fit.' }),
  },
  {
    ...exampleSeed,
    evidenceCounts: { supports: 1, contradicts: 0, neutral: 0 },
    evidence: [exampleOf(Evidence)],
  },
)
export type KitSeed = Static<typeof KitSeed>

export const ValidationKit = named(
  'ValidationKit',
  {
    version: Type.Literal('1', { description: 'The version of the format.' }),
    generatedAt: Timestamp,
    workspace: closed(
      { id: Type.String(), name: Type.String(), slug: Type.String() },
      { description: 'The workspace that the agent has access to.' },
    ),
    grant: closed(
      {
        id: Type.String(),
        clientName: Type.String(),
        userId: Type.String({ description: 'The person on whose behalf the agent acts.' }),
        userName: Type.String(),
        role: ref(Role),
        scopes: Type.Array(Type.String()),
        expiresAt: Timestamp,
      },
      { description: 'What the agent may do, and who granted it.' },
    ),
    seeds: Type.Array(ref(KitSeed), {
      description: 'The 50 that changed last, latest first, as many as fit.',
    }),
    truncated: Type.Boolean({ description: 'Whether there are more seeds or evidence than are shown.' }),
  },
  {
    version: '1',
    generatedAt: exampleTime,
    workspace: { id: exampleIds.workspace, name: 'Acme', slug: 'acme' },
    grant: {
      id: exampleIds.grant,
      clientName: 'Research agent',
      userId: exampleIds.user,
      userName: 'Grace Hopper',
      role: 'member',
      scopes: [validationKitScope],
      expiresAt: exampleExpiry,
    },
    seeds: [exampleOf(KitSeed)],
    truncated: false,
  },
)
export type ValidationKit = Static<typeof ValidationKit>

export const agentSchemas = [KitSeed, ValidationKit]

/** The named schemas that a validation kit refers to. */
export const validationKitParts = [Evidence, KitSeed, Role]

export const agentReadValidationKit = operation({
  id: 'agent.readValidationKit',
  summary: 'Read the validation kit',
  description:
    'The seeds of the workspace that the agent has access to, with the evidence for and against them. The HTTP form of ' +
    'the MCP tool `read_validation_kit`. The body may be absent. The answer has at most 512 KiB: what does not fit is ' +
    'left out, evidence before seeds and the oldest first, and `truncated` is true.',
  body: ValidationKitInput,
  success: ref(ValidationKit),
  returns: 'The validation kit.',
  errors: [errors.notFound],
})
