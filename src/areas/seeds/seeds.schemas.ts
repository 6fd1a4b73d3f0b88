import { Type, type Static, type TObject } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../http/description/operation.ts'
import {
  closed,
  exampleOf,
  line,
  lines,
  named,
  noControlCharacters,
  nullableString,
  optionalLines,
  ref,
  stringEnum,
  Timestamp,
} from '../../kernel/schemas.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import {
  seedQueryLengthMax,
  seedSorts,
  seedStatuses,
  seedTextLengthMax,
  seedTitleLengthMax,
  successCriteriaMax,
  successCriterionLengthMax,
} from '../../kernel/seeds.ts'

/** The fields of a seed in all answers. */
export const seedFields = {
  id: Type.String(),
  title: Type.String(),
  summary: Type.String(),
  problem: nullableString({ description: 'The problem today.' }),
  audience: nullableString({ description: 'The people who have the problem.' }),
  hypothesis: nullableString({ description: 'The belief to validate.' }),
  successCriteria: Type.Array(Type.String(), { description: 'What would show that the hypothesis is true.' }),
  status: stringEnum(seedStatuses),
}

/** The participation fields of a seed in all answers. */
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

export const Seed = named(
  'Seed',
  {
    ...seedFields,
    createdByUserId: nullableString(),
    agentName: nullableString({
      description: 'The agent that created it for that person; null if the person did.',
    }),
    ...participationFields,
    createdAt: Timestamp,
    updatedAt: Type.String({
      format: 'date-time',
      description: 'The time of the last edit, or of the last evidence.',
    }),
  },
  {
    ...exampleSeed,
    createdByUserId: exampleIds.user,
    agentName: null,
    createdAt: exampleTime,
    updatedAt: exampleTime,
  },
)
export type Seed = Static<typeof Seed>

export const SeedParticipant = named(
  'SeedParticipant',
  {
    userId: Type.String(),
    name: Type.String(),
    image: nullableString({ description: 'The URL of the profile photo.' }),
    joinedAt: Timestamp,
  },
  { userId: exampleIds.user, name: 'Grace Hopper', image: null, joinedAt: exampleTime },
)
export type SeedParticipant = Static<typeof SeedParticipant>

const SeedCreation = named(
  'SeedCreation',
  { ok: Type.Literal(true), seed: ref(Seed) },
  { ok: true, seed: { ...exampleOf(Seed), status: 'open', participantCount: 0, joined: false } },
)

export const seedsSchemas = [Seed, SeedParticipant, SeedCreation]

export const seedParams = Type.Object({ id: Type.String() })

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

/** The body of `seeds.create`. */
export const newSeedFields = { title, summary, ...optionalFields }

/** The body of `seeds.update`. */
export const seedChangeFields = {
  title: Type.Optional(title),
  summary: Type.Optional(summary),
  ...optionalFields,
  status: Type.Optional(stringEnum(seedStatuses)),
}

/** The errors of all changes of a seed. */
export const writerErrors = [errors.notFound, errors.roleInsufficient]

export const seedsList = listOperation(
  {
    id: 'seeds.list',
    summary: 'List or search the seeds of a workspace',
    description: 'Newest first, or the latest change first. A seed is listed if it matches all filters.',
    params: slugParams,
    returns: 'A page of seeds.',
    errors: workspaceErrors,
  },
  {
    item: Seed,
    filters: {
      status: Type.Optional(stringEnum(seedStatuses, { description: 'Only seeds with this status.' })),
      q: Type.Optional(
        Type.String({
          maxLength: seedQueryLengthMax,
          pattern: noControlCharacters,
          description: 'Only seeds whose title, summary or problem contains this text, ignoring case.',
        }),
      ),
      createdByUserId: Type.Optional(
        Type.String({ maxLength: 64, description: 'Only seeds that this person created.' }),
      ),
      joined: Type.Optional(
        Type.Boolean({
          description:
            '`true`: only seeds that the caller has joined. `false`: only seeds that the caller has not joined.',
        }),
      ),
      sort: Type.Optional(
        stringEnum(seedSorts, {
          default: 'createdAt',
          description: 'The time to sort by, the latest first. `updatedAt` changes with every edit.',
        }),
      ),
    },
  },
)

export const seedsCreate = operation({
  id: 'seeds.create',
  summary: 'Create a seed',
  description:
    'For members and above. The seed is open and has no participants; its creator may join it. An empty `problem`, ' +
    '`audience` or `hypothesis` counts as absent.',
  params: slugParams,
  body: closed(newSeedFields, { examples: [exampleTexts] }),
  success: ref(SeedCreation),
  returns: 'The new seed.',
  errors: [...workspaceErrors, errors.roleInsufficient],
})

export const seedsGet = operation({
  id: 'seeds.get',
  summary: 'Read a seed',
  description: 'For all members of its workspace.',
  params: seedParams,
  success: ref(Seed),
  returns: 'The seed.',
  errors: [errors.notFound],
})

export const seedsUpdate = operation({
  id: 'seeds.update',
  summary: 'Change a seed',
  description:
    'For members and above. Absent fields stay unchanged. An empty `problem`, `audience` or `hypothesis` is cleared. ' +
    'Any status may follow any other.',
  params: seedParams,
  body: closed(seedChangeFields, { examples: [{ status: 'validated' }] }),
  errors: writerErrors,
})

export const seedsJoin = operation({
  id: 'seeds.join',
  summary: 'Join a seed',
  description: 'For members and above. Joining again succeeds, even when the seed is validated or dropped.',
  params: seedParams,
  errors: [...writerErrors, errors.seedClosed],
})

export const seedsLeave = operation({
  id: 'seeds.leave',
  summary: 'Leave a seed',
  description: "For members and above. Leaving again succeeds. The caller's evidence stays.",
  params: seedParams,
  errors: writerErrors,
})

export const seedsListParticipants = listOperation(
  {
    id: 'seeds.listParticipants',
    summary: 'List the participants of a seed',
    description: 'In the order in which they joined.',
    params: seedParams,
    returns: 'A page of participants.',
    errors: [errors.notFound],
  },
  { item: SeedParticipant },
)
