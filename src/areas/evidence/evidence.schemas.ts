import { Type, type Static, type TObject } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams } from '../../http/description/operation.ts'
import {
  closed,
  described,
  exampleOf,
  lines,
  named,
  nullableString,
  nullableTimestamp,
  ok,
  ref,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'
import { errors } from '../../kernel/errors.ts'
import { creationSorts } from '../../kernel/pagination.ts'
import {
  evidenceAuthors,
  evidenceKinds,
  evidenceSummaryLengthMax,
  sourceUrlLengthMax,
  successCriteriaMax,
  verdicts,
} from '../../domain/seeds.ts'
import { attachmentErrors, attachmentIdsField, attachmentsField } from '../attachments/attachments.schemas.ts'
import { seedParams, writerErrors } from '../seeds/seeds.schemas.ts'

const exampleFinding = {
  kind: 'experiment' as const,
  verdict: 'supports' as const,
  summary: '34 of 60 teams finished the setup within a day.',
  sourceUrl: 'https://example.com/experiments/12',
}

export const kindDescription = 'How it was found.'
export const verdictDescription = 'Whether it is for the hypothesis of the seed, against it, or neither.'

/** The fields of evidence that counts. */
export const countedEvidenceFields = {
  id: Type.String({ description: 'The id of the evidence.' }),
  seedId: Type.String({ description: 'The id of the seed.' }),
  kind: stringEnum(evidenceKinds, { description: kindDescription }),
  verdict: stringEnum(verdicts, { description: verdictDescription }),
  summary: Type.String({ description: 'What was found.' }),
  sourceUrl: nullableString({ description: 'The source, an http or https URL.' }),
  criterionIds: Type.Array(Type.String(), {
    description: 'The success criteria of the seed that it speaks to, in their order.',
  }),
  authorUserId: nullableString({ description: 'The person who added it. Null: the account was deleted.' }),
  authorName: Type.String({ description: 'The name of the author at the time.' }),
  agentName: nullableString({
    description: 'The agent that added it for the author; null if the author did.',
  }),
  createdAt: timestamp('When the evidence was added.'),
  editedAt: nullableTimestamp('When the author corrected it last; null if never.'),
}

/** The example of those fields. */
export const exampleCountedEvidence: Static<TObject<typeof countedEvidenceFields>> = {
  id: exampleIds.evidence,
  seedId: exampleIds.seed,
  ...exampleFinding,
  criterionIds: [exampleIds.criterion],
  authorUserId: exampleIds.user,
  authorName: 'Grace Hopper',
  agentName: 'Research agent',
  createdAt: exampleTime,
  editedAt: null,
}

export const Evidence = named(
  'Evidence',
  {
    ...countedEvidenceFields,
    workspaceId: Type.String({ description: 'The id of the workspace.' }),
    attachments: attachmentsField,
    seenByCount: Type.Integer({
      description: 'How many members, without its author, have said that they saw this too (`evidence.see`).',
    }),
    seenByMe: Type.Boolean({ description: 'Whether the caller has.' }),
    withdrawnAt: nullableTimestamp('Since when it no longer counts; null if it was not withdrawn.'),
    withdrawnByName: nullableString({ description: 'The name of the person who withdrew it, at the time.' }),
    withdrawnReason: nullableString({ description: 'Why it was withdrawn; null without a reason.' }),
  },
  {
    ...exampleCountedEvidence,
    workspaceId: exampleIds.workspace,
    attachments: [],
    seenByCount: 0,
    seenByMe: false,
    withdrawnAt: null,
    withdrawnByName: null,
    withdrawnReason: null,
  },
  'What was found for or against a seed.',
)
export type Evidence = Static<typeof Evidence>

const EvidenceAddition = named(
  'EvidenceAddition',
  { ok, evidence: ref(Evidence) },
  { ok: true, evidence: exampleOf(Evidence) },
)

export const evidenceSchemas = [Evidence, EvidenceAddition]

/** The success criteria of a body. Described only in the API. */
export const criterionIds = Type.Optional(Type.Array(Type.String(), { maxItems: successCriteriaMax }))

export const criterionIdsDescription =
  'The ids of success criteria of the seed that it speaks to. Of an id that is there twice, one counts.'

/** The body of `seeds.addEvidence`. */
export const evidenceFields = {
  kind: stringEnum(evidenceKinds),
  verdict: stringEnum(verdicts),
  summary: lines(evidenceSummaryLengthMax),
  sourceUrl: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: sourceUrlLengthMax,
      'x-text': 'url',
      description: `An http or https URL of at most ${sourceUrlLengthMax} characters.`,
    }),
  ),
  criterionIds,
}

export const evidenceParams = pathParams('evidenceId')

export const evidenceGet = operation({
  id: 'evidence.get',
  summary: 'Read evidence',
  description:
    'For all members of its workspace. Withdrawn evidence is returned too, with `withdrawnAt`, as `seeds.listEvidence` ' +
    'lists it with `includeWithdrawn`.',
  params: evidenceParams,
  success: ref(Evidence),
  returns: 'The evidence, as `seeds.listEvidence` has it.',
  errors: [errors.notFound],
})

export const seedsListEvidence = listOperation(
  {
    id: 'seeds.listEvidence',
    summary: 'List the evidence of a seed',
    description: 'By default newest first, without what was withdrawn.',
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
      sort: Type.Optional(
        stringEnum(creationSorts, {
          default: '-createdAt',
          description: '`-createdAt`: newest first. `createdAt`: oldest first.',
        }),
      ),
      includeWithdrawn: Type.Optional(
        Type.Boolean({ default: false, description: '`true`: also evidence that was withdrawn.' }),
      ),
    },
  },
)

export const seedsAddEvidence = operation({
  id: 'seeds.addEvidence',
  summary: 'Add evidence to a seed',
  description:
    'For people who have joined the seed, whatever its status; with `join`, for members and above who have not, too.',
  params: seedParams,
  // Described only here, not in the inputs of the tools: a model reads each word of those with every request.
  body: closed(
    {
      ...evidenceFields,
      kind: described(evidenceFields.kind, kindDescription),
      verdict: described(evidenceFields.verdict, verdictDescription),
      criterionIds: described(criterionIds, criterionIdsDescription),
      attachmentIds: attachmentIdsField,
      join: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            '`true`: the author joins the seed in the same change, as by `seeds.join`, unless they have already.',
        }),
      ),
    },
    { examples: [exampleFinding] },
  ),
  success: ref(EvidenceAddition),
  returns: 'The new evidence.',
  errors: [
    ...writerErrors,
    errors.criterionNotFound,
    errors.notAParticipant,
    errors.seedClosed,
    errors.sourceUrlInvalid,
    ...attachmentErrors,
  ],
})
