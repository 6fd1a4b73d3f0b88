import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/idempotency.ts'
import {
  acceptInvite,
  createInvite,
  getInvite,
  listInvites,
  resendInvite,
  revokeInvite,
  updateInviteRole,
} from './invites.schemas.ts'
import type { InvitesService } from './invites.service.ts'

export function invitesRoutes(app: App, invites: InvitesService): void {
  app.get(
    '/v1/workspaces/:slug/invites',
    { schema: listInvites },
    async ({ principal, params, query }, reply) =>
      reply.sendPage(await invites.list(principal, params.slug, query)),
  )

  app.post('/v1/workspaces/:slug/invites', { schema: createInvite }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => invites.create(principal, params.slug, body),
      (created) => ({ ok: true as const, ...created }),
    ),
  )

  app.post('/v1/workspaces/:slug/invites/:inviteId/resend', { schema: resendInvite }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => invites.resend(principal, params.slug, params.inviteId),
      (sent) => ({ ok: true as const, ...sent }),
    ),
  )

  app.post('/v1/workspaces/:slug/invites/:inviteId/revoke', { schema: revokeInvite }, ({ params }, reply) =>
    reply.answerChange((principal) => invites.revoke(principal, params.slug, params.inviteId), toOk),
  )

  app.patch('/v1/workspaces/:slug/invites/:inviteId', { schema: updateInviteRole }, async (request) => {
    const { slug, inviteId } = request.params
    await invites.updateRole(request.principal, slug, inviteId, request.body)
    return { ok: true as const }
  })

  app.get('/v1/invites/:token', { schema: getInvite }, (request) =>
    invites.preview(request.principal, request.params.token),
  )

  app.post('/v1/invites/:token/accept', { schema: acceptInvite }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => invites.accept(principal, params.token),
      (accepted) => ({ ok: true as const, ...accepted }),
    ),
  )
}
