import type { App } from '../../http/app-types.ts'
import { listMembers, removeMember, updateMemberRole } from './members.schemas.ts'
import type { MembersService } from './members.service.ts'

export function membersRoutes(app: App, members: MembersService): void {
  app.get(
    '/v1/workspaces/:slug/members',
    { schema: listMembers },
    async ({ principal, params, query }, reply) =>
      reply.sendPage(await members.list(principal, params.slug, query)),
  )

  app.patch('/v1/workspaces/:slug/members/:userId', { schema: updateMemberRole }, async (request) => {
    const { slug, userId } = request.params
    await members.updateRole(request.principal, slug, userId, request.body)
    return { ok: true as const }
  })

  app.delete('/v1/workspaces/:slug/members/:userId', { schema: removeMember }, async (request) => {
    const { slug, userId } = request.params
    await members.remove(request.principal, slug, userId)
    return { ok: true as const }
  })
}
