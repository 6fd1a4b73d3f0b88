import { Type, type Static, type TInteger, type TObject } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../http/description/operation.ts'
import {
  calendarDate,
  closed,
  dateOrTime,
  described,
  exampleOf,
  line,
  lines,
  named,
  nullableLine,
  nullableString,
  nullableTimestamp,
  ok,
  optionalLine,
  optionalLines,
  ref,
  severalIds,
  severalOf,
  stringEnum,
  timestamp,
  told,
} from '../../kernel/schemas.ts'
import {
  attachmentErrors,
  attachmentIdsField,
  attachmentsField,
  changedAttachmentIdsField,
} from '../attachments/attachments.schemas.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { criterionStates } from '../../domain/criteria.ts'
import { seedLabelsMax } from '../../domain/labels.ts'
import {
  askedAs,
  idOfCaller,
  idOfNobody,
  questionLengthMax,
  reasonLengthMax,
  seedBalances,
  seedDues,
  seedQueryLengthMax,
  seedSorts,
  seedStatuses,
  seedTextLengthMax,
  seedTitleLengthMax,
  silentDays,
  similarSeedsMax,
  successCriteriaMax,
  successCriterionLengthMax,
  type SeedStatus,
} from '../../domain/seeds.ts'

const statusDescription =
  'How far the idea is tested. A seed that is `validated` or `dropped` is decided: nobody else can join it.'

const criterionId = Type.String({
  description: 'The id of the criterion, which stays when its text changes.',
})
const stateOfCriterion = stringEnum(criterionStates, {
  description: 'Whether it is met: not known yet (`open`), `met` or `missed`.',
})

/** A success criterion of a seed. */
export const Criterion = named(
  'Criterion',
  {
    id: criterionId,
    text: Type.String({ description: 'What would show that the hypothesis is true.' }),
    state: stateOfCriterion,
  },
  {
    id: exampleIds.criterion,
    text: '30 of 60 invited teams finish the setup within a day',
    state: 'met',
  },
  'A success criterion of a seed.',
)

/** The fields of a seed in all answers. */
export const seedFields = {
  id: Type.String({ description: 'The id of the seed.' }),
  title: Type.String({ description: 'The idea in one line.' }),
  summary: Type.String({ description: 'The idea in a few sentences.' }),
  problem: nullableString({ description: 'The problem today.' }),
  audience: nullableString({ description: 'The people who have the problem.' }),
  hypothesis: nullableString({ description: 'The belief to validate.' }),
  successCriteria: Type.Array(Type.String(), { description: 'What would show that the hypothesis is true.' }),
  criteria: Type.Array(ref(Criterion), { description: 'The same, in the same order, with ids and states.' }),
  status: stringEnum(seedStatuses, { description: statusDescription }),
  question: nullableString({ description: 'What is to be decided about it.' }),
  decideBy: nullableString({ format: 'date', description: 'The date (UTC) by which it is to be decided.' }),
}

/** The participation fields of a seed in all answers. */
export const participationFields = {
  participantCount: Type.Integer({ description: 'The number of people who have joined the seed.' }),
  joined: Type.Boolean({ description: 'Whether the caller has joined the seed.' }),
}

/** The numbers of pieces of evidence by their verdict. */
export const evidenceCounts = (description: string) =>
  closed(
    {
      supports: Type.Integer({ description: 'How many support it.' }),
      contradicts: Type.Integer({ description: 'How many contradict it.' }),
      neutral: Type.Integer({ description: 'How many do neither.' }),
    },
    { description },
  )

export const leadUserId = nullableString({ description: 'The person who leads the seed; null for nobody.' })

const exampleTexts = {
  title: 'Self-service onboarding',
  summary: 'Let new customers set up their account without a call.',
  problem: 'The first call is ten days away on average.',
  audience: 'Teams of up to ten people.',
  hypothesis: 'Half of them finish the setup without help.',
  successCriteria: [exampleOf(Criterion).text],
}

/** The example of those fields. */
export const exampleSeed: Static<TObject<typeof seedFields & typeof participationFields>> = {
  id: exampleIds.seed,
  ...exampleTexts,
  criteria: [exampleOf(Criterion)],
  status: 'validating',
  question: 'Do we build it for all customers?',
  decideBy: '2026-12-11',
  participantCount: 2,
  joined: true,
}

/** A label of a seed. */
export const SeedLabel = named(
  'SeedLabel',
  {
    id: Type.String({ description: 'The id of the label.' }),
    name: Type.String({ description: 'The name of the label.' }),
  },
  { id: exampleIds.label, name: 'Pricing' },
)

export const Seed = named(
  'Seed',
  {
    ...seedFields,
    workspaceId: Type.String({ description: 'The id of its workspace.' }),
    url: Type.String({
      format: 'uri',
      description: 'The URL of its page. It stays the same when the workspace gets another slug.',
    }),
    statusReason: nullableString({
      description: 'Why its status was last changed; null if nobody said.',
    }),
    decidedAt: nullableTimestamp('When it was validated or dropped; null while it is neither.'),
    decidedByUserId: nullableString({
      description: 'The person who did. Null while it is neither, or if the account was deleted.',
    }),
    decidedByName: nullableString({ description: 'The name of that person at that time; null with the id.' }),
    createdByUserId: nullableString({
      description: 'The person who created the seed. Null: the account was deleted.',
    }),
    createdByName: nullableString({
      description: 'The name of that person. Null: the account was deleted.',
    }),
    agentName: nullableString({
      description: 'The agent that created it for that person; null if the person did.',
    }),
    leadUserId,
    leadName: nullableString({ description: 'The name of that person; null for nobody.' }),
    teamId: nullableString({ description: 'The team that the seed belongs to; null for none.' }),
    teamName: nullableString({ description: 'The name of that team; null for none.' }),
    labels: Type.Array(ref(SeedLabel), { description: 'Its labels, oldest first.' }),
    ...participationFields,
    following: Type.Boolean({
      description: 'Whether the caller is notified of what happens to the seed.',
    }),
    evidenceCounts: evidenceCounts('The evidence of the seed, without what was withdrawn.'),
    commentCount: Type.Integer({ description: 'The number of comments on the seed and on its evidence.' }),
    attachments: attachmentsField,
    lastEvidenceAt: nullableTimestamp(
      'When its newest evidence was added, without what was withdrawn; null without any.',
    ),
    lastCommentAt: nullableTimestamp('When its newest comment was added; null without any.'),
    createdAt: timestamp('When the seed was created.'),
    updatedAt: Type.String({
      format: 'date-time',
      description:
        'The time of the last edit of the seed or of its evidence, or of the last new evidence. Comments and participants do ' +
        'not change it.',
    }),
    activityAt: timestamp(
      'The time of the last change of the seed, or of its evidence, comments, participants or lead, or of its restoration.',
    ),
  },
  {
    ...exampleSeed,
    statusReason: 'Sixty teams are invited.',
    ...{ decidedAt: null, decidedByUserId: null, decidedByName: null },
    createdByUserId: exampleIds.user,
    createdByName: 'Grace Hopper',
    agentName: null,
    workspaceId: exampleIds.workspace,
    url: `https://app.example.com/s/${exampleIds.seed}`,
    leadUserId: exampleIds.user,
    leadName: 'Grace Hopper',
    teamId: exampleIds.team,
    teamName: 'Design',
    labels: [exampleOf(SeedLabel)],
    following: true,
    evidenceCounts: { supports: 1, contradicts: 0, neutral: 0 },
    commentCount: 0,
    attachments: [],
    lastEvidenceAt: exampleTime,
    lastCommentAt: null,
    createdAt: exampleTime,
    updatedAt: exampleTime,
    activityAt: exampleTime,
  },
  'A seed: an early idea that people of a workspace test.',
)
export type Seed = Static<typeof Seed>

export const SeedParticipant = named(
  'SeedParticipant',
  {
    userId: Type.String({ description: 'The id of the person.' }),
    name: Type.String({ description: 'The name of the person.' }),
    image: nullableString({ description: 'The URL of the profile photo.' }),
    joinedAt: timestamp('When the person joined the seed.'),
  },
  { userId: exampleIds.user, name: 'Grace Hopper', image: null, joinedAt: exampleTime },
)
export type SeedParticipant = Static<typeof SeedParticipant>

/** A seed with a similar title. */
export const SimilarSeed = named(
  'SimilarSeed',
  {
    id: seedFields.id,
    title: seedFields.title,
    status: seedFields.status,
    url: Type.String({ format: 'uri', description: 'The URL of its page.' }),
  },
  {
    ...{ id: exampleIds.otherSeed, title: 'Onboarding without a call', status: 'open' },
    url: `https://app.example.com/s/${exampleIds.otherSeed}`,
  },
)
export type SimilarSeed = Static<typeof SimilarSeed>

/** How many seeds match a filter. */
export const SeedCount = named(
  'SeedCount',
  {
    count: Type.Integer({ description: 'How many seeds match all filters.' }),
    byStatus: closed(
      Object.fromEntries(
        seedStatuses.map((status) => [
          status,
          Type.Integer({ description: `How many of them are \`${status}\`.` }),
        ]),
      ) as Record<SeedStatus, TInteger>,
      { description: 'How many of them have each status.' },
    ),
  },
  { count: 12, byStatus: { open: 5, validating: 4, validated: 2, dropped: 1 } },
  'How many seeds match a filter.',
)
export type SeedCount = Static<typeof SeedCount>

/** Seeds with similar titles in answers. */
export const similarSeeds = Type.Array(ref(SimilarSeed), {
  description: `Up to ${similarSeedsMax} other seeds with similar titles, the most similar first.`,
})

const SeedCreation = named(
  'SeedCreation',
  { ok, seed: ref(Seed), similar: similarSeeds },
  {
    ok: true,
    seed: {
      ...{ ...exampleOf(Seed), status: 'open', participantCount: 1, joined: true },
      criteria: [{ ...exampleOf(Criterion), state: 'open' as const }],
      evidenceCounts: { supports: 0, contradicts: 0, neutral: 0 },
      lastEvidenceAt: null,
    },
    similar: [exampleOf(SimilarSeed)],
  },
)

export const seedsSchemas = [
  Criterion,
  SeedLabel,
  Seed,
  SeedParticipant,
  SeedCount,
  SimilarSeed,
  SeedCreation,
]

export const seedParams = Type.Object({ id: Type.String({ description: 'The id of the seed.' }) })

const title = line(seedTitleLengthMax)
const summary = lines(seedTextLengthMax)
const optionalFields = {
  problem: Type.Optional(optionalLines(seedTextLengthMax)),
  audience: Type.Optional(optionalLines(seedTextLengthMax)),
  hypothesis: Type.Optional(optionalLines(seedTextLengthMax)),
  successCriteria: Type.Optional(
    Type.Array(line(successCriterionLengthMax), { maxItems: successCriteriaMax }),
  ),
  question: Type.Optional(nullableLine(questionLengthMax)),
  decideBy: Type.Optional(calendarDate('The date (UTC) by which it is to be decided; null for none.')),
}

/** The success criteria in place of `successCriteria`. */
const givenCriteria = Type.Optional(
  Type.Array(
    closed({
      id: Type.Optional(told(criterionId, '')),
      text: line(successCriterionLengthMax),
      state: Type.Optional(told(stateOfCriterion, '')),
    }),
    { maxItems: successCriteriaMax },
  ),
)

/** The body of `seeds.create`, as far as agents give it: what they expect has no states yet. */
export const newSeedFields = { title, summary, ...optionalFields }

/** The body of `seeds.update`, as far as agents change it. */
export const seedChangeFields = {
  title: Type.Optional(title),
  summary: Type.Optional(summary),
  ...optionalFields,
  criteria: givenCriteria,
  status: Type.Optional(stringEnum(seedStatuses)),
}

// Described only here, not in the inputs of the tools: a model reads each word of those with every request.
const successCriteria = described(
  optionalFields.successCriteria,
  'What would show that the hypothesis is true.',
)
const criteria = described(
  givenCriteria,
  'In place of `successCriteria`: all criteria, in their order, with ids and states. One without `id` is the one of the seed with ' +
    'the same text, or a new one; without `state` it keeps its state, and a new one is `open`.',
)
const question = described(
  optionalFields.question,
  `What is to be decided about it, up to ${questionLengthMax} characters. Null or empty for none.`,
)
/** Where a seed belongs, in the bodies of creations and changes. */
const sortingFields = {
  teamId: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 64,
      description: 'The id of a team of the workspace; null for none.',
    }),
  ),
  labelIds: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: seedLabelsMax,
      description: 'The ids of all of its labels, in any order.',
    }),
  ),
}
const newStatus = described(seedChangeFields.status, statusDescription)

/** The body of `seeds.invitePerson`. */
export const askFields = {
  userId: Type.String({ description: 'The id of the person.' }),
  as: stringEnum(askedAs, { description: 'What they are to be in the seed.' }),
}

/** The errors of all changes of a seed. */
export const writerErrors = [errors.notFound, errors.roleInsufficient, errors.seedMerged]

/** The filters of lists of seeds that can be saved: of those that are not deleted. */
export const savableFilters = {
  status: Type.Optional(severalOf(seedStatuses, 'Only seeds with this status.')),
  ids: Type.Optional(severalIds('Only seeds with these ids. One that does not exist is ignored.')),
  q: Type.Optional(
    Type.String({
      maxLength: seedQueryLengthMax,
      'x-text': 'query',
      description:
        'Only seeds whose texts have all of these words, or words that begin with them, as `workspaces.search` finds them.',
    }),
  ),
  createdByUserId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: `Only seeds that this person created; \`${idOfCaller}\`: the caller.`,
    }),
  ),
  leadUserId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: `Only seeds that this person leads; \`${idOfCaller}\`: the caller, \`${idOfNobody}\`: nobody.`,
    }),
  ),
  balance: Type.Optional(
    stringEnum(seedBalances, {
      description:
        'Only seeds with more evidence for them than against them (`for`), less (`against`), as much (`even`), or without ' +
        'evidence (`none`). What was withdrawn does not count.',
    }),
  ),
  teamId: Type.Optional(Type.String({ maxLength: 64, description: 'Only seeds of this team.' })),
  labelIds: Type.Optional(
    severalIds('Only seeds with all of these labels. No seed has one that does not exist.'),
  ),
  due: Type.Optional(
    stringEnum(seedDues, {
      description:
        'Only seeds that are neither validated nor dropped, and whose `decideBy` is past (`overdue`), or today or one of ' +
        `the six days after it (\`week\`), in UTC; or that have had no evidence for more than ${silentDays} days (\`silent\`): ` +
        'none was added since, nor were they created.',
    }),
  ),
  updatedSince: Type.Optional(
    dateOrTime(
      'Only seeds whose `activityAt` is at or after this time. A date without a time is its start in UTC.',
    ),
  ),
  joined: Type.Optional(
    Type.Boolean({
      description:
        '`true`: only seeds that the caller has joined. `false`: only seeds that the caller has not joined.',
    }),
  ),
}

/** The filters of lists of seeds, and of tables of them. */
export const seedFilters = {
  ...savableFilters,
  deleted: Type.Optional(
    Type.Boolean({
      default: false,
      description: '`true`: only deleted seeds, of those that the caller can restore.',
    }),
  ),
}

export const seedsList = listOperation(
  {
    id: 'seeds.list',
    summary: 'List or search the seeds of a workspace',
    description: 'Newest first unless `sort` says otherwise. A seed is listed if it matches all filters.',
    params: slugParams,
    returns: 'A page of seeds.',
    errors: [...workspaceErrors, errors.idLimit],
  },
  {
    item: Seed,
    filters: {
      ...seedFilters,
      sort: Type.Optional(
        stringEnum(seedSorts, {
          default: 'createdAt',
          description:
            'The time to sort by, the latest first; or `decideBy`, the earliest first, or `-decideBy`, the latest first, both ' +
            'with seeds that have none at the end.',
        }),
      ),
    },
  },
)

export const seedsCount = operation({
  id: 'seeds.count',
  summary: 'Count the seeds of a workspace',
  description: 'How many seeds `seeds.list` has with the same filters, in all and by status.',
  params: slugParams,
  querystring: closed(seedFilters),
  success: ref(SeedCount),
  returns: 'The numbers of seeds.',
  errors: [...workspaceErrors, errors.idLimit],
})

export const seedsCreate = operation({
  id: 'seeds.create',
  summary: 'Create a seed',
  description:
    'For members and above. The seed is open; its creator takes part in it, leads and follows it. An empty `problem`, ' +
    '`audience` or `hypothesis` counts as absent. The success criteria are given as `successCriteria` or as `criteria`.',
  params: slugParams,
  body: closed(
    {
      ...newSeedFields,
      ...{ successCriteria, criteria, question, ...sortingFields },
      attachmentIds: attachmentIdsField,
    },
    { examples: [exampleTexts] },
  ),
  success: ref(SeedCreation),
  returns: 'The new seed.',
  errors: [
    ...[...workspaceErrors, errors.roleInsufficient, errors.criteriaTwice, errors.criterionNotFound],
    ...attachmentErrors,
  ],
})

export const seedsGet = operation({
  id: 'seeds.get',
  summary: 'Read a seed',
  description:
    'For all members of its workspace. By the id of a seed that was merged, it is the one that it was merged into.',
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
    'Success criteria are given as `successCriteria`, of which texts that stay keep their ids and states, or as `criteria`. ' +
    'Any status may follow any other. The lead must have joined the seed, and cannot be a viewer; the seed has none once ' +
    'that person leaves it or the workspace, or becomes a viewer.',
  params: seedParams,
  body: closed(
    {
      ...seedChangeFields,
      successCriteria,
      criteria,
      question,
      status: newStatus,
      statusReason: described(
        Type.Optional(optionalLine(reasonLengthMax)),
        'Why the status is changed. It is shown in the history; only together with `status`.',
      ),
      leadUserId: Type.Optional(
        Type.Unsafe<string | null>({
          type: ['string', 'null'],
          maxLength: 64,
          description: 'The id of the person who leads the seed; null for nobody.',
        }),
      ),
      ...sortingFields,
      attachmentIds: changedAttachmentIdsField,
    },
    { examples: [{ status: 'validated', statusReason: '34 of 60 teams finished.' }] },
  ),
  errors: [
    ...writerErrors,
    errors.criteriaTwice,
    errors.criterionNotFound,
    errors.leadInvalid,
    errors.reasonWithoutStatus,
    ...attachmentErrors,
  ],
})

export const seedsJoin = operation({
  id: 'seeds.join',
  summary: 'Join a seed',
  description:
    'For members and above. The caller also follows it. Joining again succeeds, even when the seed is validated or dropped.',
  params: seedParams,
  errors: [...writerErrors, errors.seedClosed],
})

export const seedsInvitePerson = operation({
  id: 'seeds.invitePerson',
  summary: 'Ask somebody to join a seed',
  description:
    'For members and above, who ask another member of the workspace. They get a notification `asked_to_join`, which ends ' +
    'when they join, when the seed is validated, dropped or erased, when they leave the workspace, and after 90 days. Who ' +
    'was asked as `lead` leads the seed once they join, if nobody led it then but who asked, and that person may still ' +
    'change seeds. Asking again for the same, or for what they are already, succeeds and changes nothing.',
  params: seedParams,
  body: closed(askFields, { examples: [{ userId: exampleIds.user, as: 'participant' }] }),
  errors: [...writerErrors, errors.personNotAskable, errors.seedClosed],
})

export const seedsLeave = operation({
  id: 'seeds.leave',
  summary: 'Leave a seed',
  description:
    "For members and above. The caller no longer leads and follows it. Leaving again succeeds. The caller's evidence stays.",
  params: seedParams,
  errors: writerErrors,
})

export const seedsDelete = operation({
  id: 'seeds.delete',
  summary: 'Delete a seed',
  description:
    'For owners and admins, and for its creator while nobody else has joined it or added evidence or comments. Nobody ' +
    'sees the seed then. It can be restored for 14 days, and is then erased.',
  params: seedParams,
  errors: [...writerErrors, errors.seedInUse],
})

export const seedsRestore = operation({
  id: 'seeds.restore',
  summary: 'Restore a deleted seed',
  description:
    'For those who may delete it, for 14 days. `seeds.list` with `deleted` lists them. Restoring again succeeds.',
  params: seedParams,
  errors: [...writerErrors, errors.seedInUse],
})

export const seedsSimilar = operation({
  id: 'seeds.similar',
  summary: 'Find seeds with a similar title',
  description:
    'For whoever writes a title, to find out whether the idea is there already. Neither case nor accents matter, and a ' +
    'word with a mistake is found too. Deleted and merged seeds are left out.',
  params: slugParams,
  querystring: closed({
    title: Type.String({
      maxLength: seedTitleLengthMax,
      'x-text': 'query',
      description: 'The title, as far as it is written.',
    }),
  }),
  success: similarSeeds,
  returns: 'The similar seeds.',
  errors: [...workspaceErrors],
})

export const seedsMerge = operation({
  id: 'seeds.merge',
  summary: 'Merge a seed into another one',
  description:
    'For owners and admins, and for who leads both seeds. Evidence, comments, participants and followers move to the other ' +
    'seed of the workspace, with their authors and times. The merged seed is in no list then: reading it returns the other ' +
    'one, with its path as `Content-Location`, and changing it is refused. It can be undone for 14 days.',
  params: seedParams,
  body: closed(
    { into: Type.String({ description: 'The id of the seed that it is merged into.' }) },
    { examples: [{ into: exampleIds.otherSeed }] },
  ),
  errors: [...writerErrors, errors.mergeSameSeed, errors.mergeTargetDeleted, errors.mergeTargetMerged],
})

export const seedsUnmerge = operation({
  id: 'seeds.unmerge',
  summary: 'Undo the merge of a seed',
  description:
    'For owners and admins, and for who leads both seeds, for 14 days. `id` is that of the merged seed. What moved moves ' +
    'back as it is now, and comments on evidence with it; what was added to the other seed stays there. Undoing again ' +
    'succeeds.',
  params: seedParams,
  errors: [errors.notFound, errors.roleInsufficient, errors.seedMergedAgain, errors.mergeExpired],
})

export const seedsFollow = operation({
  id: 'seeds.follow',
  summary: 'Follow a seed',
  description:
    'For all members of its workspace. The caller is notified of comments, evidence and changes of its status. Who ' +
    'creates or joins a seed follows it. Following again succeeds.',
  params: seedParams,
  errors: [errors.notFound, errors.seedMerged],
})

export const seedsUnfollow = operation({
  id: 'seeds.unfollow',
  summary: 'Unfollow a seed',
  description: 'For all members of its workspace. Unfollowing again succeeds.',
  params: seedParams,
  errors: [errors.notFound, errors.seedMerged],
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
