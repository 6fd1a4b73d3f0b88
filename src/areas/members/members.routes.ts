import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { membersGet, membersList, membersRemove, membersUpdateRole } from './members.schemas.ts'
import { versionOfMember, type MembersService } from './members.service.ts'

const memberUrl = '/v1/workspaces/:slug/members/:userId'

export function membersRoutes(app: App, members: MembersService): void {
  app.get('/v1/workspaces/:slug/members', { schema: membersList }, ({ principal, params, query }, reply) =>
    reply.sendPage(members.list(principal, params.slug, query)),
  )

  app.get(memberUrl, { schema: membersGet, config: { isVersioned: true } }, ({ principal, params }, reply) =>
    reply.sendVersioned(members.get(principal, params.slug, params.userId), versionOfMember),
  )

  app.patch(
    memberUrl,
    { schema: membersUpdateRole, config: { isVersioned: true } },
    ({ principal, params, body }) =>
      members.updateRole(principal, params.slug, params.userId, body).then(toOk),
  )

  app.delete(memberUrl, { schema: membersRemove }, ({ principal, params }) =>
    members.remove(principal, params.slug, params.userId).then(toOk),
  )
}
