import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation } from '../../http/description/operation.ts'
import {
  closed,
  exampleOf,
  lines,
  named,
  nullableString,
  ref,
  stringEnum,
  Timestamp,
} from '../../kernel/schemas.ts'
import { errors } from '../../kernel/errors.ts'
import {
  evidenceAuthors,
  evidenceKinds,
  evidenceSummaryLengthMax,
  sourceUrlLengthMax,
  sourceUrlPattern,
  verdicts,
} from '../../kernel/seeds.ts'
import { seedParams, writerErrors } from './seeds.schemas.ts'

const exampleFinding = {
  kind: 'experiment' as const,
  verdict: 'supports' as const,
  summary: '34 of 60 teams finished the setup within a day.',
  sourceUrl: 'https://example.com/experiments/12',
}

export const Evidence = named(
  'Evidence',
  {
    id: Type.String(),
    seedId: Type.String(),
    kind: stringEnum(evidenceKinds),
    verdict: stringEnum(verdicts),
    summary: Type.String(),
    sourceUrl: nullableString({ description: 'The source, an http or https URL.' }),
    authorUserId: nullableString(),
    authorName: Type.String({ description: 'The name of the author at the time.' }),
    agentName: nullableString({
      description: 'The agent that added it for the author; null if the author did.',
    }),
    createdAt: Timestamp,
  },
  {
    id: exampleIds.evidence,
    seedId: exampleIds.seed,
    ...exampleFinding,
    authorUserId: exampleIds.user,
    authorName: 'Grace Hopper',
    agentName: 'Research agent',
    createdAt: exampleTime,
  },
)
export type Evidence = Static<typeof Evidence>

const EvidenceAddition = named(
  'EvidenceAddition',
  { ok: Type.Literal(true), evidence: ref(Evidence) },
  { ok: true, evidence: exampleOf(Evidence) },
)

export const evidenceSchemas = [Evidence, EvidenceAddition]

/** The body of `seeds.addEvidence`. */
export const evidenceFields = {
  kind: stringEnum(evidenceKinds),
  verdict: stringEnum(verdicts),
  summary: lines(evidenceSummaryLengthMax),
  sourceUrl: Type.Optional(
    Type.String({
      maxLength: sourceUrlLengthMax,
      pattern: sourceUrlPattern,
      description: `an http or https URL of at most ${sourceUrlLengthMax} characters`,
    }),
  ),
}

export const seedsListEvidence = listOperation(
  {
    id: 'seeds.listEvidence',
    summary: 'List the evidence of a seed',
    description: 'Newest first.',
    params: seedParams,
    returns: 'A page of evidence.',
    errors: [errors.notFound],
  },
  {
    item: Evidence,
    filters: {
      by: Type.Optional(
        stringEnum(evidenceAuthors, {
          description: 'Only evidence that people added themselves, or only what agents added for them.',
        }),
      ),
    },
  },
)

export const seedsAddEvidence = operation({
  id: 'seeds.addEvidence',
  summary: 'Add evidence to a seed',
  description: 'For people who have joined the seed, whatever its status.',
  params: seedParams,
  body: closed(evidenceFields, { examples: [exampleFinding] }),
  success: ref(EvidenceAddition),
  returns: 'The new evidence.',
  errors: [...writerErrors, errors.notAParticipant, errors.sourceUrlInvalid],
})
