import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { commentLengthMax, mentionedTeamsMax, mentionedTeamSizeMax } from '../../domain/comments.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { creationSorts } from '../../kernel/pagination.ts'
import {
  closed,
  dateOrTime,
  described,
  exampleOf,
  lines,
  named,
  nullableString,
  nullableTimestamp,
  ok,
  ref,
  severalIds,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'
import { evidenceAuthors } from '../../domain/seeds.ts'
import {
  attachmentErrors,
  attachmentIdsField,
  attachmentsField,
  changedAttachmentIdsField,
} from '../attachments/attachments.schemas.ts'
import { seedParams, writerErrors } from '../seeds/seeds.schemas.ts'

const exampleBody = `Have we asked [@Grace Hopper](user:${exampleIds.user})? She ran *three* of these.`

export const Mention = named(
  'Mention',
  {
    userId: Type.String({ description: 'The id of the person.' }),
    name: Type.String({ description: 'The name of the person now.' }),
  },
  { userId: exampleIds.user, name: 'Grace Hopper' },
)

export const TeamMention = named(
  'TeamMention',
  {
    teamId: Type.String({ description: 'The id of the team.' }),
    name: Type.String({ description: 'The name of the team now.' }),
  },
  { teamId: exampleIds.team, name: 'Design' },
)

export const Comment = named(
  'Comment',
  {
    id: Type.String({ description: 'The id of the comment.' }),
    workspaceId: Type.String({ description: 'The id of the workspace.' }),
    url: Type.String({ format: 'uri', description: 'Its permanent URL, on the page of the seed.' }),
    seedId: Type.String({ description: 'The id of the seed.' }),
    evidenceId: nullableString({
      description: 'The evidence that it is about; null if it is about the seed itself.',
    }),
    body: Type.String({
      description:
        'The text, in Markdown (CommonMark with tables, without HTML, images and headings). A mention is `[@Name](user:ID)` or ' +
        '`[@Name](team:ID)`, with the name that the person or team has now.',
    }),
    mentions: Type.Array(ref(Mention), { description: 'The people whom it mentions.' }),
    teamMentions: Type.Array(ref(TeamMention), {
      description: 'The teams that it mentions. Those that were deleted are text.',
    }),
    attachments: attachmentsField,
    authorUserId: nullableString({ description: 'The author. Null: the account was deleted.' }),
    authorName: Type.String({ description: 'The name of the author at the time.' }),
    agentName: nullableString({
      description: 'The agent that wrote it for the author; null if the author did.',
    }),
    createdAt: timestamp('When the comment was written.'),
    editedAt: nullableTimestamp('When it was edited last; null if it never was.'),
  },
  {
    id: exampleIds.comment,
    workspaceId: exampleIds.workspace,
    url: `https://app.example.com/s/${exampleIds.seed}#comment-${exampleIds.comment}`,
    seedId: exampleIds.seed,
    evidenceId: null,
    body: exampleBody,
    mentions: [exampleOf(Mention)],
    teamMentions: [],
    attachments: [],
    authorUserId: exampleIds.actor,
    authorName: 'Ada Lovelace',
    agentName: null,
    createdAt: exampleTime,
    editedAt: null,
  },
  'What somebody wrote about a seed or its evidence.',
)
export type Comment = Static<typeof Comment>

const AskedAgent = named(
  'AskedAgent',
  {
    id: Type.String({ description: 'The id of the request, for `agentRequests.get`.' }),
    grantId: Type.String({ description: 'The grant of the agent.' }),
    agentName: Type.String({ description: 'The name of the agent.' }),
  },
  { id: exampleIds.agentRequest, grantId: exampleIds.grant, agentName: 'Claude' },
  'An agent that a comment asks.',
)
export type AskedAgent = Static<typeof AskedAgent>

const requestsOf = (description: string) => Type.Array(ref(AskedAgent), { description })

const CommentCreation = named(
  'CommentCreation',
  {
    ok,
    comment: ref(Comment),
    requests: requestsOf('What it asks of agents. One that it names and that is not here was not asked.'),
  },
  { ok: true, comment: exampleOf(Comment), requests: [] },
)

const CommentChange = named(
  'CommentChange',
  { ok, requests: requestsOf('Empty: an edit asks no agent.') },
  { ok: true, requests: [] },
)

export const commentsSchemas = [Mention, TeamMention, Comment, AskedAgent, CommentCreation, CommentChange]

/** The text of a comment. */
export const commentBody = lines(commentLengthMax)
const body = described(
  commentBody,
  `1 to ${commentLengthMax} characters of Markdown. \`[@Name](user:ID)\` mentions a member of the workspace; the name may be ` +
    `anything. \`[@Name](team:ID)\` by a person mentions a team of at most ${mentionedTeamSizeMax}, ${mentionedTeamsMax} a comment. Mentions of others become plain text. ` +
    '`[@Name](agent:GRANT)` in a new comment by a person asks an agent that they ' +
    'may ask (`agentRequests.askable`); otherwise it is text.',
)
const commentParams = pathParams('commentId')
const commentErrors = [errors.notFound, errors.roleInsufficient]

export const commentsList = listOperation(
  {
    id: 'comments.list',
    summary: 'List the comments on a seed',
    description: 'By default oldest first, with those on its evidence. For all members of its workspace.',
    params: seedParams,
    returns: 'A page of comments.',
    errors: [errors.notFound],
  },
  {
    item: Comment,
    filters: {
      evidenceId: Type.Optional(Type.String({ description: 'Only comments on this evidence.' })),
      sort: Type.Optional(
        stringEnum(creationSorts, {
          default: 'createdAt',
          description: '`createdAt`: oldest first. `-createdAt`: newest first.',
        }),
      ),
    },
  },
)

/** The filters of lists of comments that agents have too. */
export const commentsFilters = {
  since: Type.Optional(
    dateOrTime(
      'Only comments that were written or edited at or after this time. A date without a time is its start in UTC.',
    ),
  ),
  by: Type.Optional(
    stringEnum(evidenceAuthors, {
      description: 'Only comments that people wrote themselves, or only what agents wrote for them.',
    }),
  ),
}

export const commentsListOfWorkspace = listOperation(
  {
    id: 'comments.listOfWorkspace',
    summary: 'List the comments of a workspace',
    description: 'Newest first, without those on deleted seeds. For all members of the workspace.',
    params: slugParams,
    returns: 'A page of comments.',
    errors: [...workspaceErrors, errors.idLimit],
  },
  {
    item: Comment,
    filters: {
      seedIds: Type.Optional(
        severalIds('Only comments on these seeds. One that does not exist has no comments.'),
      ),
      ...commentsFilters,
    },
  },
)

export const commentsCreate = operation({
  id: 'comments.create',
  summary: 'Comment on a seed or its evidence',
  description:
    'For members and above. The author and the mentioned people follow the seed from then on. Mentioned people, ' +
    'members of mentioned teams and followers are notified.',
  params: seedParams,
  body: closed(
    {
      body,
      evidenceId: Type.Optional(
        Type.String({ description: 'The evidence of the seed that it is about. Absent: the seed itself.' }),
      ),
      attachmentIds: attachmentIdsField,
    },
    { examples: [{ body: exampleBody }] },
  ),
  success: ref(CommentCreation),
  returns: 'The new comment, and what it asks of agents.',
  errors: [...writerErrors, errors.agentBusy, errors.askLimit, ...attachmentErrors],
})

export const commentsGet = operation({
  id: 'comments.get',
  summary: 'Read a comment',
  description: 'For all members of its workspace.',
  params: commentParams,
  success: ref(Comment),
  returns: 'The comment, as `comments.list` has it.',
  errors: [errors.notFound],
})

export const commentsUpdate = operation({
  id: 'comments.update',
  summary: 'Edit a comment',
  description:
    'For its author. People whom it did not mention before are notified; agents that it did not are text, and not asked.',
  params: commentParams,
  body: closed({ body, attachmentIds: changedAttachmentIdsField }, { examples: [{ body: exampleBody }] }),
  success: ref(CommentChange),
  returns: 'That it was changed, and that this asked no agent.',
  errors: [...commentErrors, errors.notTheAuthor, ...attachmentErrors],
})

export const commentsDelete = operation({
  id: 'comments.delete',
  summary: 'Delete a comment',
  description: 'For its author, owners and admins. It cannot be restored.',
  params: commentParams,
  errors: [...commentErrors, errors.notTheAuthor, errors.seedMerged],
})
