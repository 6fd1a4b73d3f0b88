import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  commentsCreate,
  commentsDelete,
  commentsGet,
  commentsList,
  commentsListOfWorkspace,
  commentsUpdate,
} from './comments.schemas.ts'
import { versionOfComment, type CommentsService } from './comments.service.ts'

const commentUrl = '/v1/comments/:commentId'

export function commentsRoutes(app: App, comments: CommentsService): void {
  app.get('/v1/seeds/:id/comments', { schema: commentsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(comments.list(principal, params.id, query)),
  )

  app.get(
    '/v1/workspaces/:slug/comments',
    { schema: commentsListOfWorkspace },
    ({ principal, params, query }, reply) =>
      reply.sendPage(comments.listOfWorkspace(principal, params.slug, query)),
  )

  app.post(
    '/v1/seeds/:id/comments',
    {
      schema: commentsCreate,
      config: { creates: { part: 'comment', url: '/v1/comments/:id', versionOf: versionOfComment } },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => comments.create(principal, params.id, body),
        (created) => ({ ok: true as const, ...created }),
      ),
  )

  app.get(
    commentUrl,
    { schema: commentsGet, config: { isVersioned: true } },
    ({ principal, params }, reply) =>
      reply.sendVersioned(comments.get(principal, params.commentId), versionOfComment),
  )

  app.patch(
    commentUrl,
    { schema: commentsUpdate, config: { isVersioned: true } },
    ({ principal, params, body }) =>
      comments.update(principal, params.commentId, body).then(() => ({ ok: true as const, requests: [] })),
  )

  app.delete(commentUrl, { schema: commentsDelete }, ({ principal, params }) =>
    comments.delete(principal, params.commentId).then(toOk),
  )
}
