import { Type } from '@sinclair/typebox'
import { exampleIds } from '../example-ids.ts'
import { nullableString } from '../../kernel/schemas.ts'
import { seed, exampleSeed, attachmentIds } from './seeds.ts'
import { id, text, kind } from './kind.ts'

/** The fields of what is about a comment. */
export const comment = {
  commentId: id('the comment'),
  ...seed,
  evidenceId: nullableString({ description: 'The evidence that it is about; null for the seed itself.' }),
}

/** The values of these fields in examples. */
export const exampleComment = { commentId: exampleIds.comment, ...exampleSeed, evidenceId: null }

/** What was commented, in a sentence. */
export const commented = (of: { title: string; evidenceId: string | null }) =>
  of.evidenceId === null ? `the seed ${of.title}` : `evidence of the seed ${of.title}`

/** What happens to comments. */
export const commentEvents = {
  'comment.added': kind(
    { ...comment, attachmentIds },
    {
      readers: 'everybody',
      target: ['comment', 'commentId'],
      summarize: (data, actor) => `${actor} commented on ${commented(data)}`,
      example: exampleComment,
    },
  ),
  'comment.updated': kind(comment, {
    readers: 'everybody',
    target: ['comment', 'commentId'],
    summarize: (data, actor) => `${actor} edited a comment on ${commented(data)}`,
    example: exampleComment,
  }),
  'comment.deleted': kind(
    {
      ...comment,
      userId: nullableString({ description: 'The id of its author. Null: the account was deleted.' }),
      name: text('The name of its author at the time.'),
      isSelf: Type.Boolean({ description: 'Whether the author did it.' }),
    },
    {
      readers: 'everybody',
      target: ['comment', 'commentId'],
      summarize: ({ name, isSelf, ...data }, actor) =>
        `${actor} deleted a comment ${isSelf ? '' : `by ${name} `}on ${commented(data)}`,
      example: { ...exampleComment, userId: exampleIds.user, name: 'Ada Lovelace', isSelf: false },
    },
  ),
}
