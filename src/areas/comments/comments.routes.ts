import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { commentsCreate, commentsDelete, commentsList, commentsUpdate } from './comments.schemas.ts'
import type { CommentsService } from './comments.service.ts'

export function commentsRoutes(app: App, comments: CommentsService): void {
  app.get('/v1/seeds/:id/comments', { schema: commentsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(comments.list(principal, params.id, query)),
  )

  app.post('/v1/seeds/:id/comments', { schema: commentsCreate }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => comments.create(principal, params.id, body),
      (comment) => ({ ok: true as const, comment }),
    ),
  )

  app.patch('/v1/comments/:commentId', { schema: commentsUpdate }, ({ principal, params, body }) =>
    comments.update(principal, params.commentId, body).then(toOk),
  )

  app.delete('/v1/comments/:commentId', { schema: commentsDelete }, ({ principal, params }) =>
    comments.delete(principal, params.commentId).then(toOk),
  )
}
