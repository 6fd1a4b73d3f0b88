import { exampleIds } from '../../http/description/examples.ts'
import { changesOfAgents, toPrincipal, type AgentPrincipal } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { toJson } from '../../kernel/json-text.ts'
import { closed, line, told } from '../../kernel/schemas.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import type { PeopleService } from '../../areas/people/people.service.ts'
import { Team } from '../../areas/teams/teams.schemas.ts'
import type { TeamPath, TeamsService } from '../../areas/teams/teams.service.ts'
import { defineTool, readingHints, type AgentTool } from './agent-tool.ts'
import { AgentDone, AgentTeam, AgentTeams } from './agent-tools.schemas.ts'
import { idOf, writingHints, quote } from './common-tool-parts.ts'
import { limitDefault, pageAdvice, pageFields, toPageAnswer } from './tool-pages.ts'

const teamId = idOf('a team')
const userId = idOf('a person')
const name = told(line(labelLengthMax), 'Its name.')
const unknownTeam = 'No team of this workspace has this teamId. Call list_teams.'
const unknownMember = `${unknownTeam} Or the person is not in the workspace or the team.`
const nameTaken = 'Names of teams differ by more than upper and lower case. Call list_teams to see them.'

/** The tools with which an agent changes the teams of a workspace, with the scope `workspace:write`. */
export function teamsTools(teams: TeamsService, people: Pick<PeopleService, 'get'>): AgentTool[] {
  const pathOf = (agent: AgentPrincipal, id: string): TeamPath => ({
    slug: agent.workspace.slug,
    teamId: id,
  })
  return [
    defineTool({
      name: 'list_teams',
      title: 'List teams',
      description: 'The teams of the workspace, oldest first.',
      did: 'read the list of teams',
      scope: 'workspace:write',
      action: 'teams.list',
      http: { id: 'agent.listTeams', path: '/agent/v1/teams::list', returns: 'A page of teams.' },
      input: closed(pageFields, { examples: [{ limit: 10 }] }),
      output: AgentTeams,
      parts: [Team],
      hints: readingHints,
      async call(agent, { limit = limitDefault, ...input }) {
        const page = await teams.list(toPrincipal(agent), agent.workspace.slug, { ...input, limit })
        return toPageAnswer('teams', page)
      },
      errors: [errors.cursorInvalid],
      advice: pageAdvice,
    }),
    defineTool({
      name: 'create_team',
      title: 'Create a team',
      description: 'Creates an empty team. Call list_teams first.',
      did: changesOfAgents.create_team,
      scope: 'workspace:write',
      action: 'teams.create',
      http: { id: 'agent.createTeam', path: '/agent/v1/teams::create', returns: 'The new team.' },
      input: closed({ name }, { examples: [{ name: 'Design' }] }),
      output: AgentTeam,
      parts: [Team],
      hints: { ...writingHints, idempotentHint: false },
      async call(agent, input) {
        return toJson({ team: await teams.create(toPrincipal(agent), agent.workspace.slug, input) })
      },
      errors: [errors.roleInsufficient, errors.labelInvalid, errors.teamNameTaken],
      advice: { team_name_taken: nameTaken },
    }),
    defineTool({
      name: 'rename_team',
      title: 'Rename a team',
      description: 'Gives a team another name. Its members stay.',
      did: changesOfAgents.rename_team,
      scope: 'workspace:write',
      action: 'teams.rename',
      http: { id: 'agent.renameTeam', path: '/agent/v1/teams::rename', returns: 'That it was renamed.' },
      input: closed({ teamId, name }, { examples: [{ teamId: exampleIds.team, name: 'Research' }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { teamId: id, ...input }) {
        await teams.rename(toPrincipal(agent), pathOf(agent, id), input)
        return toJson({ ok: true as const })
      },
      errors: [errors.notFound, errors.roleInsufficient, errors.labelInvalid, errors.teamNameTaken],
      advice: { not_found: unknownTeam, team_name_taken: nameTaken },
    }),
    defineTool({
      name: 'delete_team',
      title: 'Delete a team',
      description: 'Deletes a team for good. Its members stay.',
      did: changesOfAgents.delete_team,
      scope: 'workspace:write',
      action: 'teams.delete',
      http: { id: 'agent.deleteTeam', path: '/agent/v1/teams::delete', returns: 'That it was deleted.' },
      input: closed({ teamId }, { examples: [{ teamId: exampleIds.team }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async call(agent, { teamId: id }) {
        await teams.delete(toPrincipal(agent), pathOf(agent, id))
        return toJson({ ok: true as const })
      },
      errors: [errors.notFound, errors.roleInsufficient],
      advice: { not_found: unknownTeam },
    }),
    defineTool({
      name: 'add_team_member',
      title: 'Add to a team',
      description: 'Adds a member to a team. list_people has their ids.',
      did: changesOfAgents.add_team_member,
      scope: 'workspace:write',
      action: 'teams.addMember',
      http: {
        id: 'agent.addTeamMember',
        path: '/agent/v1/teams::addMember',
        returns: 'That the person was added.',
      },
      input: closed({ teamId, userId }, { examples: [{ teamId: exampleIds.team, userId: exampleIds.user }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { teamId: id, ...input }) {
        await teams.addMember(toPrincipal(agent), pathOf(agent, id), input)
        return toJson({ ok: true as const })
      },
      errors: [errors.notFound, errors.roleInsufficient, errors.alreadyTeamMember],
      advice: { not_found: unknownMember },
    }),
    defineTool({
      name: 'remove_team_member',
      title: 'Remove from a team',
      description: 'Removes a person from a team, not from the workspace.',
      did: changesOfAgents.remove_team_member,
      scope: 'workspace:write',
      action: 'teams.removeMember',
      http: {
        id: 'agent.removeTeamMember',
        path: '/agent/v1/teams::removeMember',
        returns: 'That the person was removed.',
      },
      input: closed({ teamId, userId }, { examples: [{ teamId: exampleIds.team, userId: exampleIds.user }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async confirm(agent, { teamId: id, userId: person }) {
        const principal = toPrincipal(agent)
        const team = await teams.get(principal, pathOf(agent, id))
        const { name: named } = await people.get(principal, agent.workspace.slug, person)
        return `Remove ${quote(named)} from the team ${quote(team.name)}?`
      },
      async call(agent, { teamId: id, userId: person }) {
        await teams.removeMember(toPrincipal(agent), pathOf(agent, id), person)
        return toJson({ ok: true as const })
      },
      errors: [errors.notFound, errors.roleInsufficient],
      advice: { not_found: unknownMember },
    }),
  ]
}
