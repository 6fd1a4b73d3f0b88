import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/idempotency.ts'
import {
  addTeamMember,
  createTeam,
  deleteTeam,
  listTeamMembers,
  listTeams,
  removeTeamMember,
  renameTeam,
} from './teams.schemas.ts'
import type { TeamsService } from './teams.service.ts'

const teamUrl = '/v1/workspaces/:slug/teams/:teamId'

export function teamsRoutes(app: App, teams: TeamsService): void {
  app.get('/v1/workspaces/:slug/teams', { schema: listTeams }, async ({ principal, params, query }, reply) =>
    reply.sendPage(await teams.list(principal, params.slug, query)),
  )

  app.post('/v1/workspaces/:slug/teams', { schema: createTeam }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => teams.create(principal, params.slug, body),
      (team) => ({ ok: true as const, team }),
    ),
  )

  app.patch(teamUrl, { schema: renameTeam }, async ({ principal, params, body }) => {
    await teams.rename(principal, params, body)
    return { ok: true as const }
  })

  app.delete(teamUrl, { schema: deleteTeam }, async ({ principal, params }) => {
    await teams.delete(principal, params)
    return { ok: true as const }
  })

  app.get(`${teamUrl}/members`, { schema: listTeamMembers }, async ({ principal, params, query }, reply) =>
    reply.sendPage(await teams.listMembers(principal, params, query)),
  )

  app.post(`${teamUrl}/members`, { schema: addTeamMember }, ({ params, body }, reply) =>
    reply.answerChange((principal) => teams.addMember(principal, params, body), toOk),
  )

  app.delete(`${teamUrl}/members/:userId`, { schema: removeTeamMember }, async ({ principal, params }) => {
    await teams.removeMember(principal, params, params.userId)
    return { ok: true as const }
  })
}
