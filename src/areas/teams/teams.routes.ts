import type { App } from '../../http/app-types.ts'
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

  app.post('/v1/workspaces/:slug/teams', { schema: createTeam }, async ({ principal, params, body }) => {
    const team = await teams.create(principal, params.slug, body)
    return { ok: true as const, team }
  })

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

  app.post(`${teamUrl}/members`, { schema: addTeamMember }, async ({ principal, params, body }) => {
    await teams.addMember(principal, params, body)
    return { ok: true as const }
  })

  app.delete(`${teamUrl}/members/:userId`, { schema: removeTeamMember }, async ({ principal, params }) => {
    await teams.removeMember(principal, params, params.userId)
    return { ok: true as const }
  })
}
