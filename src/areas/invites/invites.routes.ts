import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  invitesAccept,
  invitesCreate,
  invitesDecline,
  invitesGet,
  invitesList,
  invitesResend,
  invitesRevoke,
  invitesUpdateRole,
} from './invites.schemas.ts'
import type { InvitesService } from './invites.service.ts'
import type { ReceivedInvitesService } from './received-invites.service.ts'

export function invitesRoutes(
  app: App,
  { invites, receivedInvites }: { invites: InvitesService; receivedInvites: ReceivedInvitesService },
): void {
  app.get('/v1/workspaces/:slug/invites', { schema: invitesList }, ({ principal, params, query }, reply) =>
    reply.sendPage(invites.list(principal, params.slug, query)),
  )

  app.post('/v1/workspaces/:slug/invites', { schema: invitesCreate }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => invites.create(principal, params.slug, body),
      (created) => ({ ok: true as const, ...created }),
    ),
  )

  app.post('/v1/workspaces/:slug/invites/:inviteId/resend', { schema: invitesResend }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => invites.resend(principal, params.slug, params.inviteId),
      ({ inviteUrl, expiresAt }) => ({ ok: true as const, inviteUrl, expiresAt }),
    ),
  )

  app.post('/v1/workspaces/:slug/invites/:inviteId/revoke', { schema: invitesRevoke }, ({ params }, reply) =>
    reply.answerChange((principal) => invites.revoke(principal, params.slug, params.inviteId), toOk),
  )

  app.patch(
    '/v1/workspaces/:slug/invites/:inviteId',
    { schema: invitesUpdateRole },
    ({ principal, params, body }) =>
      invites.updateRole(principal, params.slug, params.inviteId, body).then(toOk),
  )

  app.get('/v1/invites/:token', { schema: invitesGet }, (request) =>
    receivedInvites.preview(request.principal, request.params.token),
  )

  app.post('/v1/invites/:token/accept', { schema: invitesAccept }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => receivedInvites.accept(principal, params.token),
      ({ workspaceId, slug, role }) => ({ ok: true as const, workspaceId, slug, role }),
    ),
  )

  app.post('/v1/invites/:token/decline', { schema: invitesDecline }, ({ params }, reply) =>
    reply.answerChange((principal) => receivedInvites.decline(principal, params.token), toOk),
  )
}
