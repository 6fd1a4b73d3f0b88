import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  invitesAccept,
  invitesCreate,
  invitesDecline,
  invitesGet,
  invitesGetById,
  invitesList,
  invitesResend,
  invitesRevoke,
  invitesUpdateRole,
} from './invites.schemas.ts'
import { versionOfInvite, type InvitesService } from './invites.service.ts'
import type { ReceivedInvitesService } from './received-invites.service.ts'

const inviteUrl = '/v1/workspaces/:slug/invites/:inviteId'

export function invitesRoutes(
  app: App,
  { invites, receivedInvites }: { invites: InvitesService; receivedInvites: ReceivedInvitesService },
): void {
  app.get('/v1/workspaces/:slug/invites', { schema: invitesList }, ({ principal, params, query }, reply) =>
    reply.sendPage(invites.list(principal, params.slug, query)),
  )

  app.post(
    '/v1/workspaces/:slug/invites',
    {
      schema: invitesCreate,
      config: {
        creates: { part: 'invite', url: '/v1/workspaces/:slug/invites/:id', versionOf: versionOfInvite },
      },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => invites.create(principal, params.slug, body),
        (created) => ({ ok: true as const, ...created }),
      ),
  )

  app.get(
    inviteUrl,
    { schema: invitesGetById, config: { isVersioned: true } },
    ({ principal, params }, reply) =>
      reply.sendVersioned(invites.get(principal, params.slug, params.inviteId), versionOfInvite),
  )

  app.post(`${inviteUrl}/resend`, { schema: invitesResend }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => invites.resend(principal, params.slug, params.inviteId),
      ({ inviteUrl, expiresAt }) => ({ ok: true as const, inviteUrl, expiresAt }),
    ),
  )

  app.post(`${inviteUrl}/revoke`, { schema: invitesRevoke }, ({ params }, reply) =>
    reply.answerChange((principal) => invites.revoke(principal, params.slug, params.inviteId), toOk),
  )

  app.patch(
    inviteUrl,
    { schema: invitesUpdateRole, config: { isVersioned: true } },
    ({ principal, params, body }) =>
      invites.updateRole(principal, params.slug, params.inviteId, body).then(toOk),
  )

  app.get(
    '/v1/invites/:token',
    { schema: invitesGet, config: { forKeysBelowOwner: true } },
    ({ principal, params }) => receivedInvites.preview(principal, params.token),
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
