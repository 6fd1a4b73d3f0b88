import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { membersList, membersRemove, membersUpdateRole } from './members.schemas.ts'
import type { MembersService } from './members.service.ts'

export function membersRoutes(app: App, members: MembersService): void {
  app.get('/v1/workspaces/:slug/members', { schema: membersList }, ({ principal, params, query }, reply) =>
    reply.sendPage(members.list(principal, params.slug, query)),
  )

  app.patch(
    '/v1/workspaces/:slug/members/:userId',
    { schema: membersUpdateRole },
    ({ principal, params, body }) =>
      members.updateRole(principal, params.slug, params.userId, body).then(toOk),
  )

  app.delete('/v1/workspaces/:slug/members/:userId', { schema: membersRemove }, ({ principal, params }) =>
    members.remove(principal, params.slug, params.userId).then(toOk),
  )
}
