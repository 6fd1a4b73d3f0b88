import { Type, type Static } from '@sinclair/typebox'
import { exampleExpiry, exampleIds, exampleTime } from '../../http/description/examples.ts'
import { operation } from '../../http/description/operation.ts'
import {
  kitAttachmentsMax,
  kitCommentsMax,
  kitDetails,
  kitEvidenceMax,
  kitOutlineMax,
  kitParticipantsMax,
  kitSeedsMax,
  type kitSummaryColumns,
  validationKitScope,
} from '../../domain/agent.ts'
import { Role } from '../../domain/roles.ts'
import {
  closed,
  dateOrTime,
  exampleOf,
  named,
  nullableArray,
  nullableString,
  oneOrSeveral,
  ref,
  stringEnum,
  Timestamp,
  told,
} from '../../kernel/schemas.ts'
import { errors } from '../../kernel/errors.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import { kitSorts, seedDues, seedQueryLengthMax, seedStatuses, silentDays } from '../../domain/seeds.ts'
import { countedEvidenceFields, exampleCountedEvidence } from '../../areas/evidence/evidence.schemas.ts'
import {
  Criterion,
  evidenceCounts as countsOf,
  exampleSeed,
  leadUserId,
  participationFields,
  seedFields,
} from '../../areas/seeds/seeds.schemas.ts'

const compared = (description: string) =>
  Type.String({ maxLength: labelLengthMax, 'x-text': 'query', description })

/** The input of the validation kit. `withoutBlanks` is applied to it first. */
export const ValidationKitInput = closed(
  {
    seedId: Type.Optional(
      Type.String({ description: 'Only this seed; then only cursor and evidenceLimit apply.' }),
    ),
    status: Type.Optional(oneOrSeveral(seedStatuses, 'Only these.')),
    query: Type.Optional(
      told(
        Type.String({
          maxLength: seedQueryLengthMax,
          'x-text': 'query',
          description: 'With all these words, or words that begin with them.',
        }),
        'With all these words.',
      ),
    ),
    updatedSince: Type.Optional(
      told(
        dateOrTime('Edited, or with evidence, since this date (UTC) or time.'),
        'Edited, or with evidence, since then.',
      ),
    ),
    leadUserId: Type.Optional(compared('Led by this person.')),
    team: Type.Optional(compared('Its name.')),
    label: Type.Optional(compared('Its name.')),
    due: Type.Optional(
      told(
        stringEnum(seedDues, {
          description: `Undecided seeds whose decideBy is past, or today or in the six days after it (UTC); silent: without evidence for ${silentDays} days.`,
        }),
        `Undecided, by decideBy; silent: ${silentDays} days without evidence.`,
      ),
    ),
    noEvidenceSince: Type.Optional(dateOrTime('Without evidence since then; 1970-01-01: without any.')),
    sort: Type.Optional(
      told(
        stringEnum(kitSorts, { description: 'The latest first, -createdAt the oldest; default updatedAt.' }),
        'Latest first, -createdAt: oldest.',
      ),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: kitOutlineMax,
        description: `Seeds; default ${kitOutlineMax}, at most ${kitSeedsMax} in full.`,
      }),
    ),
    cursor: Type.Optional(
      told(Type.String({ maxLength: 1024, description: 'nextCursor, same filters.' }), 'nextCursor.'),
    ),
    evidenceLimit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: kitEvidenceMax,
        description: `Of each seed; default ${kitEvidenceMax}.`,
      }),
    ),
    detail: Type.Optional(
      told(
        stringEnum(kitDetails, {
          description:
            'summary: outline, summary and hypothesis, to compare seeds. Default over MCP: outline; over HTTP: full.',
        }),
        'summary: to compare seeds. Default outline.',
      ),
    ),
  },
  { examples: [{ seedId: exampleIds.seed }] },
)
export type ValidationKitInput = Static<typeof ValidationKitInput>

const evidenceCounts = countsOf('Counts all evidence, including evidence that is not shown.')
const updatedAt = Type.String({
  format: 'date-time',
  description: 'The time of the last edit of the seed or of its evidence.',
})

const KitEvidence = named(
  'ValidationKitEvidence',
  countedEvidenceFields,
  exampleCountedEvidence,
  'What was found for or against a seed. Withdrawn evidence is in no kit.',
)
export type KitEvidence = Static<typeof KitEvidence>

const KitComment = named(
  'ValidationKitComment',
  {
    id: Type.String(),
    evidenceId: nullableString({ description: 'The evidence that it is about; null for the seed itself.' }),
    body: Type.String({ description: 'Markdown. A mention is `[@Name](user:ID)`.' }),
    authorUserId: nullableString({ description: 'The author. Null: the account was deleted.' }),
    authorName: Type.String(),
    agentName: nullableString({ description: 'The agent that wrote it for the author, if one did.' }),
    createdAt: Timestamp,
  },
  {
    id: exampleIds.comment,
    evidenceId: null,
    body: 'Who was asked?',
    authorUserId: exampleIds.user,
    authorName: 'Grace Hopper',
    agentName: null,
    createdAt: exampleTime,
  },
)
export type KitComment = Static<typeof KitComment>

const KitAttachment = named(
  'ValidationKitAttachment',
  {
    id: Type.String(),
    name: Type.String(),
    type: Type.String({ description: 'The media type.' }),
    bytes: Type.Integer(),
    evidenceId: nullableString({ description: 'The evidence that has it, or null.' }),
    commentId: nullableString({
      description: 'The comment that has it. Null with `evidenceId`: the seed itself.',
    }),
  },
  {
    ...{ id: exampleIds.attachment, name: 'interviews.csv', type: 'text/csv', bytes: 18_204 },
    ...{ evidenceId: exampleIds.evidence, commentId: null },
  },
)
export type KitAttachment = Static<typeof KitAttachment>

const KitParticipant = named(
  'ValidationKitParticipant',
  { userId: Type.String(), name: Type.String() },
  { userId: exampleIds.user, name: 'Grace Hopper' },
)
export type KitParticipant = Static<typeof KitParticipant>

const KitSeed = named(
  'ValidationKitSeed',
  {
    ...seedFields,
    agentName: nullableString({ description: 'The agent that created it; null for a person.' }),
    leadUserId,
    ...participationFields,
    createdAt: Timestamp,
    updatedAt,
    url: Type.String({ description: 'The page of the seed on the website.' }),
    evidenceCounts,
    evidence: Type.Array(ref(KitEvidence), {
      description: 'The newest evidence first, as much as fits; with `cursor`, the evidence that follows.',
    }),
  },
  {
    ...exampleSeed,
    agentName: null,
    leadUserId: exampleIds.user,
    createdAt: exampleTime,
    updatedAt: exampleTime,
    url: `https://app.example.com/w/acme/seeds/${exampleIds.seed}`,
    evidenceCounts: { supports: 1, contradicts: 0, neutral: 0 },
    evidence: [exampleOf(KitEvidence)],
  },
)
export type KitSeed = Static<typeof KitSeed>

const KitOutlineItem = named(
  'ValidationKitOutlineItem',
  {
    id: seedFields.id,
    title: seedFields.title,
    status: seedFields.status,
    evidenceCounts,
    updatedAt,
    createdAt: Timestamp,
    leadName: nullableString({ description: 'Who leads the seed; null for nobody.' }),
    participantCount: participationFields.participantCount,
    commentCount: Type.Integer({ description: 'The number of comments on the seed and on its evidence.' }),
    activeOn: Type.String({
      format: 'date',
      description:
        'The date (UTC) of the last change of the seed, its evidence, comments, participants or lead.',
    }),
  },
  {
    id: exampleIds.seed,
    title: exampleSeed.title,
    status: exampleSeed.status,
    evidenceCounts: { supports: 1, contradicts: 0, neutral: 0 },
    updatedAt: exampleTime,
    createdAt: exampleTime,
    leadName: 'Grace Hopper',
    participantCount: 2,
    commentCount: 1,
    activeOn: exampleTime.slice(0, 10),
  },
)
export type KitOutlineItem = Static<typeof KitOutlineItem>

/** A seed in the table of summaries. */
export type KitSummary = Record<(typeof kitSummaryColumns)[number], string | number | null>

const KitSummaries = named(
  'ValidationKitSummaries',
  {
    columns: Type.Array(Type.String(), { description: 'What the values of each row are.' }),
    rows: Type.Array(
      Type.Array(Type.Unsafe<string | number | null>({ type: ['string', 'integer', 'null'] })),
      { description: 'A row for each seed.' },
    ),
  },
  { columns: ['id', 'title'], rows: [[exampleIds.seed, exampleSeed.title]] },
  'Seeds as a table, in which names of fields are not repeated.',
)

const discussionNote =
  'Null without `seedId`, with `cursor`, and for agents without the scope `workspace:read` or with a consent from before it included them.'

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
    totals: closed(
      {
        seeds: Type.Integer(),
        evidence: Type.Integer(),
        comments: Type.Union([Type.Integer(), Type.Null()]),
      },
      {
        description:
          'The numbers of seeds that match the input, and of all their evidence, shown or not; of comments if there are `comments`.',
      },
    ),
    truncated: Type.Boolean({ description: 'Whether there are more seeds or evidence than are shown.' }),
    nextCursor: nullableString({
      description: 'The `cursor` of the next request; null at the end.',
    }),
    note: nullableString({
      description:
        'What is left out and how to read it, why nothing was found, and that comments are content; otherwise null.',
    }),
    outline: Type.Array(ref(KitOutlineItem), {
      description: 'With `detail: "outline"` over HTTP, the seeds without their texts; otherwise empty.',
    }),
    summaries: Type.Union([ref(KitSummaries), Type.Null()], {
      description:
        'The seeds as a table with `detail: "summary"`, and over MCP those in outline, with fewer columns; otherwise null. `createdOn` and `activeOn` are dates (UTC), `supports`, `contradicts` and `neutral` numbers of evidence.',
    }),
    comments: nullableArray(
      KitComment,
      `Of one seed, the newest ${kitCommentsMax} comments, as many as fit. ${discussionNote}`,
    ),
    participants: nullableArray(
      KitParticipant,
      `Of one seed, the first ${kitParticipantsMax} participants. ${discussionNote}`,
    ),
    attachments: nullableArray(
      KitAttachment,
      `Of one seed, its newest ${kitAttachmentsMax} files. ${discussionNote}`,
    ),
    seeds: Type.Array(ref(KitSeed), {
      description: 'The seeds that changed last, latest first, as many as fit.',
    }),
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
    totals: { seeds: 1, evidence: 1, comments: 1 },
    truncated: false,
    nextCursor: null,
    note: null,
    outline: [],
    summaries: null,
    comments: [exampleOf(KitComment)],
    participants: [exampleOf(KitParticipant)],
    attachments: [exampleOf(KitAttachment)],
    seeds: [exampleOf(KitSeed)],
  },
)
export type ValidationKit = Static<typeof ValidationKit>

const parts = [
  ...[KitEvidence, KitComment, KitParticipant, KitAttachment, KitSeed, KitOutlineItem],
  KitSummaries,
]

export const agentSchemas = [...parts, ValidationKit]

/** The named schemas that a validation kit refers to. */
export const validationKitParts = [Criterion, ...parts, Role]

export const agentReadValidationKit = operation({
  id: 'agent.readValidationKit',
  summary: 'Read the validation kit',
  description:
    'The seeds of the workspace that the agent has access to, with the evidence for and against them. The HTTP form of ' +
    'the MCP tool `read_validation_kit`. The body is optional; null and the empty string count as absent in its ' +
    'fields. The response has at most 512 KiB. If it would be larger, evidence is left out first, then seeds, the oldest ' +
    'first. `truncated` is then true: `nextCursor` continues the list of seeds, and `seedId` reads the evidence of a seed.',
  body: ValidationKitInput,
  success: ref(ValidationKit),
  returns: 'The validation kit.',
  errors: [errors.notFound, errors.cursorInvalid],
})
