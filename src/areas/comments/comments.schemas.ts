import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams } from '../../http/description/operation.ts'
import { commentLengthMax } from '../../domain/comments.ts'
import { errors } from '../../kernel/errors.ts'
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
  timestamp,
} from '../../kernel/schemas.ts'
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

export const Comment = named(
  'Comment',
  {
    id: Type.String({ description: 'The id of the comment.' }),
    seedId: Type.String({ description: 'The id of the seed.' }),
    evidenceId: nullableString({
      description: 'The evidence that it is about; null if it is about the seed itself.',
    }),
    body: Type.String({
      description:
        'The text, in Markdown (CommonMark without HTML and images). A mention is `[@Name](user:ID)`, with the name that ' +
        'the person has now.',
    }),
    mentions: Type.Array(ref(Mention), { description: 'The people whom it mentions.' }),
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
    seedId: exampleIds.seed,
    evidenceId: null,
    body: exampleBody,
    mentions: [exampleOf(Mention)],
    authorUserId: exampleIds.actor,
    authorName: 'Ada Lovelace',
    agentName: null,
    createdAt: exampleTime,
    editedAt: null,
  },
  'What somebody wrote about a seed or its evidence.',
)
export type Comment = Static<typeof Comment>

const CommentCreation = named(
  'CommentCreation',
  { ok, comment: ref(Comment) },
  { ok: true, comment: exampleOf(Comment) },
)

export const commentsSchemas = [Mention, Comment, CommentCreation]

/** The text of a comment. */
export const commentBody = lines(commentLengthMax)
const body = described(
  commentBody,
  `1 to ${commentLengthMax} characters of Markdown. \`[@Name](user:ID)\` mentions a member of the workspace; the name may be ` +
    'anything. Mentions of others become plain text.',
)
const commentParams = pathParams('commentId')
const commentErrors = [errors.notFound, errors.roleInsufficient]

export const commentsList = listOperation(
  {
    id: 'comments.list',
    summary: 'List the comments on a seed',
    description: 'Oldest first, with those on its evidence. For all members of its workspace.',
    params: seedParams,
    returns: 'A page of comments.',
    errors: [errors.notFound],
  },
  {
    item: Comment,
    filters: {
      evidenceId: Type.Optional(Type.String({ description: 'Only comments on this evidence.' })),
    },
  },
)

export const commentsCreate = operation({
  id: 'comments.create',
  summary: 'Comment on a seed or its evidence',
  description:
    'For members and above. The author and the mentioned people follow the seed from then on. Mentioned people and ' +
    'followers are notified.',
  params: seedParams,
  body: closed(
    {
      body,
      evidenceId: Type.Optional(
        Type.String({ description: 'The evidence of the seed that it is about. Absent: the seed itself.' }),
      ),
    },
    { examples: [{ body: exampleBody }] },
  ),
  success: ref(CommentCreation),
  returns: 'The new comment.',
  errors: writerErrors,
})

export const commentsUpdate = operation({
  id: 'comments.update',
  summary: 'Edit a comment',
  description: 'For its author. People whom it did not mention before are notified.',
  params: commentParams,
  body: closed({ body }, { examples: [{ body: exampleBody }] }),
  errors: [...commentErrors, errors.notTheAuthor],
})

export const commentsDelete = operation({
  id: 'comments.delete',
  summary: 'Delete a comment',
  description: 'For its author, owners and admins. It cannot be restored.',
  params: commentParams,
  errors: [...commentErrors, errors.notTheAuthor],
})
