import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import {
  closed,
  line,
  lines,
  named,
  nullableString,
  Ok,
  optionalLines,
  ref,
  stringEnum,
  Timestamp,
} from '../../http/schemas.ts'
import {
  evidenceKinds,
  evidenceSummaryLengthMax,
  seedStatuses,
  seedTextLengthMax,
  seedTitleLengthMax,
  sourceUrlLengthMax,
  sourceUrlPattern,
  successCriteriaMax,
  successCriterionLengthMax,
  verdicts,
} from '../../kernel/seeds.ts'

/** What a seed is, wherever it is shown. */
export const seedFields = {
  id: Type.String(),
  title: Type.String(),
  summary: Type.String(),
  problem: nullableString({ description: 'What is wrong today.' }),
  audience: nullableString({ description: 'Whose problem it is.' }),
  hypothesis: nullableString({ description: 'What is believed, and is to be found out.' }),
  successCriteria: Type.Array(Type.String(), { description: 'By what it will be told that it holds.' }),
  status: stringEnum(seedStatuses),
}

/** What the caller and others have to do with it. */
export const participationFields = {
  participantCount: Type.Integer(),
  joined: Type.Boolean({ description: 'Whether the caller has joined it.' }),
}

const Seed = named('Seed', {
  ...seedFields,
  createdByUserId: nullableString(),
  ...participationFields,
  createdAt: Timestamp,
  updatedAt: Type.String({
    format: 'date-time',
    description: 'When it was last edited, or given evidence.',
    examples: ['2026-11-21T03:04:05.678Z'],
  }),
})

export const Evidence = named('Evidence', {
  id: Type.String(),
  seedId: Type.String(),
  kind: stringEnum(evidenceKinds),
  verdict: stringEnum(verdicts),
  summary: Type.String(),
  sourceUrl: nullableString({ description: 'Where it comes from: an http or https URL.' }),
  authorUserId: nullableString(),
  authorName: Type.String({ description: 'What they were called at the time.' }),
  createdAt: Timestamp,
})

const SeedCreation = named('SeedCreation', { ok: Type.Literal(true), seed: ref(Seed) })
const EvidenceAddition = named('EvidenceAddition', { ok: Type.Literal(true), evidence: ref(Evidence) })

export const seedsSchemas = [Seed, Evidence, SeedCreation, EvidenceAddition]

const slugParams = Type.Object({ slug: Type.String() })
const seedParams = Type.Object({ id: Type.String() })

const title = line(seedTitleLengthMax)
const summary = lines(seedTextLengthMax)
const optionalFields = {
  problem: Type.Optional(optionalLines(seedTextLengthMax)),
  audience: Type.Optional(optionalLines(seedTextLengthMax)),
  hypothesis: Type.Optional(optionalLines(seedTextLengthMax)),
  successCriteria: Type.Optional(
    Type.Array(line(successCriterionLengthMax), { maxItems: successCriteriaMax }),
  ),
}

export const listSeeds = operation({
  id: 'seeds.list',
  summary: 'List the seeds of a workspace',
  description: 'Newest first.',
  params: slugParams,
  querystring: closed({
    ...pageQuery,
    status: Type.Optional(stringEnum(seedStatuses, { description: 'Only seeds that stand there.' })),
  }),
  success: Type.Array(ref(Seed)),
})

export const createSeed = operation({
  id: 'seeds.create',
  summary: 'Create a seed',
  description:
    'For members and above. It is open, and nobody has joined it yet, its creator included. An empty `problem`, ' +
    '`audience` or `hypothesis` is none.',
  params: slugParams,
  body: closed({ title, summary, ...optionalFields }),
  success: ref(SeedCreation),
})

export const getSeed = operation({
  id: 'seeds.get',
  summary: 'Read a seed',
  params: seedParams,
  success: ref(Seed),
})

export const updateSeed = operation({
  id: 'seeds.update',
  summary: 'Change a seed',
  description:
    'For members and above. A field that is absent stays as it is; an empty `problem`, `audience` or `hypothesis` is ' +
    'cleared. Any status may follow any other.',
  params: seedParams,
  body: closed({
    title: Type.Optional(title),
    summary: Type.Optional(summary),
    ...optionalFields,
    status: Type.Optional(stringEnum(seedStatuses)),
  }),
  success: ref(Ok),
})

export const joinSeed = operation({
  id: 'seeds.join',
  summary: 'Join a seed',
  description:
    'For members and above. No error for somebody who has joined already; 409 `seed_closed` for others when it is ' +
    'validated or dropped.',
  params: seedParams,
  success: ref(Ok),
})

export const leaveSeed = operation({
  id: 'seeds.leave',
  summary: 'Leave a seed',
  description: 'No error for somebody who is not in it. Their evidence stays.',
  params: seedParams,
  success: ref(Ok),
})

export const listEvidence = operation({
  id: 'seeds.listEvidence',
  summary: 'List the evidence of a seed',
  description: 'Newest first.',
  params: seedParams,
  querystring: closed(pageQuery),
  success: Type.Array(ref(Evidence)),
})

export const addEvidence = operation({
  id: 'seeds.addEvidence',
  summary: 'Add evidence to a seed',
  description: 'For those who have joined it, whatever its status; 403 `not_a_participant` for others.',
  params: seedParams,
  body: closed({
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
  }),
  success: ref(EvidenceAddition),
})
