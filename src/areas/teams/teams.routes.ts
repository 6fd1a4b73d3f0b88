import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  teamsAddMember,
  teamsCreate,
  teamsDelete,
  teamsGet,
  teamsListMembers,
  teamsList,
  teamsRemoveMember,
  teamsRename,
} from './teams.schemas.ts'
import { versionOfTeam, type TeamsService } from './teams.service.ts'

const teamUrl = '/v1/workspaces/:slug/teams/:teamId'

export function teamsRoutes(app: App, teams: TeamsService): void {
  app.get('/v1/workspaces/:slug/teams', { schema: teamsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(teams.list(principal, params.slug, query)),
  )

  app.post(
    '/v1/workspaces/:slug/teams',
    {
      schema: teamsCreate,
      config: { creates: { part: 'team', url: '/v1/workspaces/:slug/teams/:id', versionOf: versionOfTeam } },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => teams.create(principal, params.slug, body),
        (team) => ({ ok: true as const, team }),
      ),
  )

  app.get(teamUrl, { schema: teamsGet, config: { isVersioned: true } }, ({ principal, params }, reply) =>
    reply.sendVersioned(teams.get(principal, params), versionOfTeam),
  )

  app.patch(teamUrl, { schema: teamsRename, config: { isVersioned: true } }, ({ principal, params, body }) =>
    teams.rename(principal, params, body).then(toOk),
  )

  app.delete(teamUrl, { schema: teamsDelete }, ({ principal, params }) =>
    teams.delete(principal, params).then(toOk),
  )

  app.get(`${teamUrl}/members`, { schema: teamsListMembers }, ({ principal, params, query }, reply) =>
    reply.sendPage(teams.listMembers(principal, params, query)),
  )

  app.post(`${teamUrl}/members`, { schema: teamsAddMember }, ({ params, body }, reply) =>
    reply.answerChange((principal) => teams.addMember(principal, params, body), toOk),
  )

  app.delete(`${teamUrl}/members/:userId`, { schema: teamsRemoveMember }, ({ principal, params }) =>
    teams.removeMember(principal, params, params.userId).then(toOk),
  )
}
