import { Type } from '@sinclair/typebox'
import { exampleIds } from '../../http/description/examples.ts'
import { changesOfAgents, toPrincipal } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { toJson } from '../../kernel/json-text.ts'
import { closed, told } from '../../kernel/schemas.ts'
import { Comment, commentBody, Mention } from '../../areas/comments/comments.schemas.ts'
import type { CommentsService } from '../../areas/comments/comments.service.ts'
import type { SeedsService } from '../../areas/seeds/seeds.service.ts'
import { defineTool, type AgentTool } from './agent-tool.ts'
import type { SeedLinks } from '../kit/seed-links.ts'
import { AgentComment, AgentDone } from './agent-tools.schemas.ts'
import {
  endedRequest,
  evidenceId,
  idOf,
  requestId,
  seedId,
  writingHints,
  quote,
} from './common-tool-parts.ts'

const commentId = idOf('a comment')
const unknownComment = 'No comment of this workspace has this commentId. Call list_comments.'
const notOfAgent =
  'You change only comments that you wrote, not those of your person. Say so, or add a comment.'

/** The tools with which an agent comments on seeds, and changes its own comments, with the scope `seeds:write`. */
export function commentsTools(
  { comments, seeds }: { comments: CommentsService; seeds: Pick<SeedsService, 'get'> },
  links: SeedLinks,
): AgentTool[] {
  return [
    defineTool({
      name: 'add_comment',
      title: 'Comment on a seed',
      description:
        'Adds a question, answer or suggestion to a seed or its evidence. Findings are evidence: ' +
        'add_evidence. `[@Name](user:ID)` mentions a person.',
      did: changesOfAgents.add_comment,
      scope: 'seeds:write',
      consentVersion: 1,
      action: 'comments.create',
      http: { id: 'agent.addComment', path: '/agent/v1/comments::add', returns: 'The new comment.' },
      input: closed(
        {
          seedId,
          body: told(commentBody, 'Markdown.'),
          evidenceId: Type.Optional(evidenceId),
          requestId: Type.Optional(requestId),
        },
        { examples: [{ seedId: exampleIds.seed, body: 'Who was asked in the survey?' }] },
      ),
      output: AgentComment,
      parts: [Comment, Mention],
      // A mention that is written wrong is silently text.
      brief: (_input, { comment: { id, mentions }, url }) => ({
        ...{ id, url },
        changed: ['added', ...mentions.map(({ name }) => `mentions ${name}`)],
      }),
      hints: { ...writingHints, idempotentHint: false },
      async call(agent, { seedId: id, ...input }) {
        const { comment } = await comments.create(toPrincipal(agent), id, input)
        return toJson({ comment, url: links.urlOf(agent, id) })
      },
      errors: [
        errors.notFound,
        errors.seedMerged,
        errors.roleInsufficient,
        errors.textInvalid,
        errors.requestNotWaiting,
      ],
      advice: {
        not_found: 'No seed of this workspace has this seedId, or it has no such evidence or request.',
        request_not_waiting: endedRequest,
      },
    }),
    defineTool({
      name: 'update_comment',
      title: 'Edit a comment',
      description: 'Replaces the text of a comment that you wrote.',
      did: changesOfAgents.update_comment,
      scope: 'seeds:write',
      consentVersion: 2,
      action: 'comments.update',
      http: { id: 'agent.updateComment', path: '/agent/v1/comments::update', returns: 'That it was edited.' },
      input: closed(
        { commentId, body: told(commentBody, 'Markdown.') },
        { examples: [{ commentId: exampleIds.comment, body: 'Who was asked in the second survey?' }] },
      ),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async call(agent, { commentId: id, ...input }) {
        await comments.update(toPrincipal(agent), id, input)
        return toJson({ ok: true as const })
      },
      errors: [
        errors.notFound,
        errors.seedMerged,
        errors.roleInsufficient,
        errors.notTheAuthor,
        errors.textInvalid,
      ],
      advice: { not_found: unknownComment, not_the_author: notOfAgent },
    }),
    defineTool({
      name: 'delete_comment',
      title: 'Delete a comment',
      description: 'Deletes a comment that you wrote, for good.',
      did: changesOfAgents.delete_comment,
      scope: 'seeds:write',
      consentVersion: 2,
      action: 'comments.delete',
      http: {
        id: 'agent.deleteComment',
        path: '/agent/v1/comments::delete',
        returns: 'That it was deleted.',
      },
      input: closed({ commentId }, { examples: [{ commentId: exampleIds.comment }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: false },
      async confirm(agent, { commentId: id }) {
        const principal = toPrincipal(agent)
        const { seedId: ofSeed, body } = await comments.get(principal, id)
        const { title } = await seeds.get(principal, ofSeed)
        return `Delete the comment ${quote(body)} on the seed ${quote(title)} for good?`
      },
      async call(agent, { commentId: id }) {
        await comments.delete(toPrincipal(agent), id)
        return toJson({ ok: true as const })
      },
      errors: [errors.notFound, errors.seedMerged, errors.roleInsufficient, errors.notTheAuthor],
      advice: { not_found: unknownComment, not_the_author: notOfAgent },
    }),
  ]
}
