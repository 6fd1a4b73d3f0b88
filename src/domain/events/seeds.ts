import { Type } from '@sinclair/typebox'
import { criterionStates } from '../criteria.ts'
import { exampleIds } from '../example-ids.ts'
import { nullableString, stringEnum } from '../../kernel/schemas.ts'
import { askedAs, changedOfSeed, seedStatuses } from '../seeds.ts'
import { attachmentTargets } from '../attachments.ts'
import { person, examplePerson } from './people.ts'
import { listOf, id, text, kind } from './kind.ts'

/** The fields of what is about a seed. */
export const seed = { seedId: id('the seed'), title: text('The title of the seed at the time.') }

/** The values of these fields in examples. */
export const exampleSeed = { seedId: exampleIds.seed, title: 'Lending library for tools' }

const movedCounts = {
  evidenceCount: Type.Integer({ description: 'How many pieces of evidence moved, also withdrawn ones.' }),
  commentCount: Type.Integer({ description: 'How many comments moved.' }),
}

/** The field of the files of what was written. */
export const attachmentIds = Type.Optional(
  Type.Array(Type.String(), { description: 'The ids of its files. Absent: it has none.' }),
)

const seedFieldLabels: Record<(typeof changedOfSeed)[number], string> = {
  title: 'title',
  summary: 'summary',
  problem: 'problem',
  audience: 'audience',
  hypothesis: 'hypothesis',
  successCriteria: 'success criteria',
  status: 'status',
  leadUserId: 'lead',
  question: 'question',
  decideBy: 'date to decide by',
  teamId: 'team',
  labelIds: 'labels',
  attachmentIds: 'files',
}

/** What happened to the team of a seed. */
function describeTeam(data: {
  title: string
  teamName?: string | null
  teamNameBefore?: string | null
}): string {
  const { title, teamName = null, teamNameBefore = null } = data
  if (teamName === null) return `took the seed ${title} from the team ${teamNameBefore ?? 'that it had'}`
  if (teamNameBefore === null) return `gave the seed ${title} to the team ${teamName}`
  return `moved the seed ${title} from the team ${teamNameBefore} to the team ${teamName}`
}

/** What a field of a seed was and is, as far as the data say it. */
function describeStep(
  field: (typeof changedOfSeed)[number],
  data: {
    title: string
    titleBefore: string | null
    status: { from: string; to: string } | null
    leadName: string | null
    leadNameBefore?: string | null
    teamName?: string | null
    teamNameBefore?: string | null
  },
): string {
  const { title, titleBefore, status, leadName, leadNameBefore, teamName, teamNameBefore } = data
  if (field === 'title' && titleBefore !== null) return ` from ${titleBefore} to ${title}`
  if (field === 'status' && status) return ` from ${status.from} to ${status.to}`
  if (field === 'teamId') return ` from ${teamNameBefore ?? 'none'} to ${teamName ?? 'none'}`
  if (field !== 'leadUserId') return ''
  const before = leadNameBefore === undefined ? '' : ` from ${leadNameBefore ?? 'nobody'}`
  return `${before} to ${leadName ?? 'nobody'}`
}

/** What happens to seeds and their files. */
export const seedEvents = {
  'seed.created': kind(
    {
      ...seed,
      attachmentIds,
      teamId: Type.Optional(Type.String({ description: 'The id of its team. Absent: it has none.' })),
      labelIds: Type.Optional(
        Type.Array(Type.String(), { description: 'The ids of its labels. Absent: it has none.' }),
      ),
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      summarize: ({ title }, actor) => `${actor} created the seed ${title}`,
      example: exampleSeed,
    },
  ),
  'seed.updated': kind(
    {
      seedId: seed.seedId,
      title: text('The title of the seed after the change.'),
      titleBefore: nullableString({ description: 'The title before, if it was changed.' }),
      fields: Type.Array(stringEnum(changedOfSeed), { description: 'What was changed.' }),
      status: Type.Unsafe<{ from: (typeof seedStatuses)[number]; to: (typeof seedStatuses)[number] } | null>({
        type: ['object', 'null'],
        description: 'The status before and now, if it was changed.',
        properties: { from: stringEnum(seedStatuses), to: stringEnum(seedStatuses) },
        required: ['from', 'to'],
        additionalProperties: false,
      }),
      statusReason: nullableString({ description: 'Why the status was changed, if that was said.' }),
      leadUserId: nullableString({
        description: 'The id of the person who leads it now, if `fields` has `leadUserId`; null for nobody.',
      }),
      leadName: nullableString({ description: 'The name of that person at the time.' }),
      leadUserIdBefore: Type.Optional(
        nullableString({
          description:
            'The id of the person who led it before, if `fields` has `leadUserId`; null for nobody.',
        }),
      ),
      leadNameBefore: Type.Optional(nullableString({ description: 'The name of that person at the time.' })),
      teamId: Type.Optional(
        nullableString({ description: 'The id of its team now, if `fields` has `teamId`; null for none.' }),
      ),
      teamName: Type.Optional(nullableString({ description: 'The name of that team at the time.' })),
      teamIdBefore: Type.Optional(
        nullableString({
          description: 'The id of its team before, if `fields` has `teamId`; null for none.',
        }),
      ),
      teamNameBefore: Type.Optional(nullableString({ description: 'The name of that team at the time.' })),
      labelIds: Type.Optional(
        Type.Array(Type.String(), { description: 'The ids of its labels now, if `fields` has `labelIds`.' }),
      ),
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      names: { teamNameBefore: 'teamIdBefore' },
      summarize(data, actor, actorUserId) {
        const { title, titleBefore, fields, status, leadName, leadUserIdBefore, leadNameBefore } = data
        const changes = fields.map((field) => `the ${seedFieldLabels[field]}${describeStep(field, data)}`)
        if (fields.length > 1)
          return fields.some((field) => describeStep(field, data) !== '')
            ? `${actor} changed the seed ${title}: ${listOf(changes)}`
            : `${actor} changed ${listOf(changes)} of the seed ${title}`
        if (titleBefore !== null)
          return `${actor} changed the title of the seed from ${titleBefore} to ${title}`
        if (status)
          return `${actor} changed the status of the seed ${title} from ${status.from} to ${status.to}`
        if (fields[0] === 'teamId') return `${actor} ${describeTeam(data)}`
        if (fields[0] !== 'leadUserId') return `${actor} changed ${listOf(changes)} of the seed ${title}`
        if (leadName !== null)
          return leadNameBefore == null
            ? `${actor} made ${leadName} the lead of the seed ${title}`
            : `${actor} changed the lead of the seed ${title} from ${leadNameBefore} to ${leadName}`
        if (leadUserIdBefore != null && leadUserIdBefore === actorUserId)
          return `${actor} stepped down as the lead of the seed ${title}`
        return leadNameBefore == null
          ? `${actor} removed the lead of the seed ${title}`
          : `${actor} removed ${leadNameBefore} as the lead of the seed ${title}`
      },
      example: {
        ...exampleSeed,
        titleBefore: null,
        fields: ['hypothesis', 'status'],
        status: { from: 'open', to: 'validating' },
        statusReason: 'Three teams want to try it.',
        leadUserId: null,
        leadName: null,
        leadUserIdBefore: null,
        leadNameBefore: null,
      },
    },
  ),
  'seed.criterion_changed': kind(
    {
      ...seed,
      criterionId: id('the success criterion'),
      text: text('What it says, after the change.'),
      from: stringEnum(criterionStates, { description: 'Its state before; `open` if it is new.' }),
      to: stringEnum(criterionStates, { description: 'Its state now.' }),
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      // A text like a name, which may be in another direction than the sentence.
      names: { text: '' },
      summarize: ({ title, text: criterion, to }, actor) =>
        `${actor} marked “${criterion}” as ${to} in the seed ${title}`,
      example: {
        ...exampleSeed,
        criterionId: exampleIds.criterion,
        text: 'Ten of twelve would pay',
        from: 'open',
        to: 'met',
      },
    },
  ),
  'seed.joined': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} joined the seed ${title}`,
    example: exampleSeed,
  }),
  'seed.person_asked': kind(
    { ...seed, ...person, as: stringEnum(askedAs, { description: 'What they are to be in the seed.' }) },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      summarize: ({ title, name, as }, actor) =>
        `${actor} asked ${name} to ${as === 'lead' ? 'join and lead' : 'join'} the seed ${title}`,
      example: { ...exampleSeed, ...examplePerson, as: 'participant' },
    },
  ),
  'seed.left': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} left the seed ${title}`,
    example: exampleSeed,
  }),
  'seed.deleted': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} deleted the seed ${title}`,
    example: exampleSeed,
  }),
  'seed.restored': kind(seed, {
    readers: 'everybody',
    target: ['seed', 'seedId'],
    summarize: ({ title }, actor) => `${actor} restored the seed ${title}`,
    example: exampleSeed,
  }),
  'attachment.deleted': kind(
    {
      attachmentId: id('the file'),
      name: text('The name of the file.'),
      ...seed,
      targetType: stringEnum(attachmentTargets, { description: 'What it was attached to.' }),
      targetId: id('the seed, evidence or comment that it was attached to'),
    },
    {
      readers: 'everybody',
      target: ['seed', 'seedId'],
      summarize: ({ title, name }, actor) => `${actor} deleted the file ${name} of the seed ${title}`,
      example: {
        ...{ attachmentId: exampleIds.attachment, name: 'interviews.csv', ...exampleSeed },
        ...{ targetType: 'evidence', targetId: exampleIds.evidence },
      },
    },
  ),
  'seed.merged': kind(
    {
      ...seed,
      intoSeedId: id('the seed that it was merged into'),
      intoTitle: text('The title of that seed at the time.'),
      ...movedCounts,
    },
    {
      readers: 'everybody',
      target: ['seed', 'intoSeedId'],
      names: { intoTitle: 'intoSeedId' },
      summarize: ({ title, intoTitle }, actor) => `${actor} merged the seed ${title} into ${intoTitle}`,
      example: {
        ...exampleSeed,
        ...{ intoSeedId: exampleIds.otherSeed, intoTitle: 'Library of things' },
        ...{ evidenceCount: 3, commentCount: 5 },
      },
    },
  ),
  'seed.unmerged': kind(
    {
      ...seed,
      fromSeedId: id('the seed that it had been merged into'),
      fromTitle: text('The title of that seed at the time.'),
      ...movedCounts,
    },
    {
      readers: 'everybody',
      target: ['seed', 'fromSeedId'],
      names: { fromTitle: 'fromSeedId' },
      summarize: ({ title, fromTitle }, actor) => `${actor} took the seed ${title} out of ${fromTitle} again`,
      example: {
        ...exampleSeed,
        ...{ fromSeedId: exampleIds.otherSeed, fromTitle: 'Library of things' },
        ...{ evidenceCount: 3, commentCount: 5 },
      },
    },
  ),
}
