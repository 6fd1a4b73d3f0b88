import { Type, type Static, type TObject } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/examples.ts'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import {
  closed,
  exampleOf,
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
import { errors, workspaceErrors } from '../../kernel/errors.ts'
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

/** The fields of a seed, wherever it is shown. */
export const seedFields = {
  id: Type.String(),
  title: Type.String(),
  summary: Type.String(),
  problem: nullableString({ description: 'The problem today.' }),
  audience: nullableString({ description: 'The people who have the problem.' }),
  hypothesis: nullableString({ description: 'The belief that is to be validated.' }),
  successCriteria: Type.Array(Type.String(), { description: 'What would show that the hypothesis holds.' }),
  status: stringEnum(seedStatuses),
}

/** How many people have joined a seed, and whether the caller is one of them. */
export const participationFields = {
  participantCount: Type.Integer(),
  joined: Type.Boolean({ description: 'Whether the caller has joined the seed.' }),
}

const exampleTexts = {
  title: 'Self-service onboarding',
  summary: 'Let new customers set up their account without a call.',
  problem: 'The first call is ten days away on average.',
  audience: 'Teams of up to ten people.',
  hypothesis: 'Half of them finish the setup without help.',
  successCriteria: ['30 of 60 invited teams finish the setup within a day'],
}

/** The example of those fields. */
export const exampleSeed: Static<TObject<typeof seedFields & typeof participationFields>> = {
  id: exampleIds.seed,
  ...exampleTexts,
  status: 'validating',
  participantCount: 2,
  joined: true,
}

const Seed = named(
  'Seed',
  {
    ...seedFields,
    createdByUserId: nullableString(),
    ...participationFields,
    createdAt: Timestamp,
    updatedAt: Type.String({
      format: 'date-time',
      description: 'The time of the last edit, or of the last evidence.',
    }),
  },
  { ...exampleSeed, createdByUserId: exampleIds.user, createdAt: exampleTime, updatedAt: exampleTime },
)

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
    createdAt: Timestamp,
  },
  {
    id: exampleIds.evidence,
    seedId: exampleIds.seed,
    ...exampleFinding,
    authorUserId: exampleIds.user,
    authorName: 'Grace Hopper',
    createdAt: exampleTime,
  },
)

const SeedCreation = named(
  'SeedCreation',
  { ok: Type.Literal(true), seed: ref(Seed) },
  { ok: true, seed: { ...exampleOf(Seed), status: 'open', participantCount: 0, joined: false } },
)
const EvidenceAddition = named(
  'EvidenceAddition',
  { ok: Type.Literal(true), evidence: ref(Evidence) },
  { ok: true, evidence: exampleOf(Evidence) },
)

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

const writerErrors = [errors.notFound, errors.roleInsufficient]

export const listSeeds = operation({
  id: 'seeds.list',
  summary: 'List the seeds of a workspace',
  description: 'Newest first.',
  params: slugParams,
  querystring: closed({
    ...pageQuery,
    status: Type.Optional(stringEnum(seedStatuses, { description: 'Only seeds with this status.' })),
  }),
  success: Type.Array(ref(Seed)),
  returns: 'A page of seeds.',
  errors: workspaceErrors,
})

export const createSeed = operation({
  id: 'seeds.create',
  summary: 'Create a seed',
  description:
    'For members and above. The seed is open and has no participants; its creator may join it. An empty `problem`, ' +
    '`audience` or `hypothesis` counts as none.',
  params: slugParams,
  body: closed({ title, summary, ...optionalFields }, { examples: [exampleTexts] }),
  success: ref(SeedCreation),
  returns: 'The new seed.',
  errors: [...workspaceErrors, errors.roleInsufficient],
})

export const getSeed = operation({
  id: 'seeds.get',
  summary: 'Read a seed',
  description: 'For all members of its workspace.',
  params: seedParams,
  success: ref(Seed),
  returns: 'The seed.',
  errors: [errors.notFound],
})

export const updateSeed = operation({
  id: 'seeds.update',
  summary: 'Change a seed',
  description:
    'For members and above. Absent fields stay unchanged. An empty `problem`, `audience` or `hypothesis` is cleared. ' +
    'Any status may follow any other.',
  params: seedParams,
  body: closed(
    {
      title: Type.Optional(title),
      summary: Type.Optional(summary),
      ...optionalFields,
      status: Type.Optional(stringEnum(seedStatuses)),
    },
    { examples: [{ status: 'validated' }] },
  ),
  success: ref(Ok),
  errors: writerErrors,
})

export const joinSeed = operation({
  id: 'seeds.join',
  summary: 'Join a seed',
  description: 'For members and above. Joining again succeeds, even when the seed is validated or dropped.',
  params: seedParams,
  success: ref(Ok),
  errors: [...writerErrors, errors.seedClosed],
})

export const leaveSeed = operation({
  id: 'seeds.leave',
  summary: 'Leave a seed',
  description: "For members and above. Leaving again succeeds. The caller's evidence stays.",
  params: seedParams,
  success: ref(Ok),
  errors: writerErrors,
})

export const listEvidence = operation({
  id: 'seeds.listEvidence',
  summary: 'List the evidence of a seed',
  description: 'Newest first.',
  params: seedParams,
  querystring: closed(pageQuery),
  success: Type.Array(ref(Evidence)),
  returns: 'A page of evidence.',
  errors: [errors.notFound],
})

export const addEvidence = operation({
  id: 'seeds.addEvidence',
  summary: 'Add evidence to a seed',
  description: 'For people who have joined the seed, whatever its status.',
  params: seedParams,
  body: closed(
    {
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
    },
    { examples: [exampleFinding] },
  ),
  success: ref(EvidenceAddition),
  returns: 'The new evidence.',
  errors: [...writerErrors, errors.notAParticipant, errors.sourceUrlInvalid],
})
