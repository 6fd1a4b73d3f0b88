import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { closed, exampleOf, line, named, nullableString, ok, ref, timestamp } from '../../kernel/schemas.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { labelLengthMax } from '../../kernel/text.ts'

export const Team = named(
  'Team',
  {
    id: Type.String({ description: 'The id of the team.' }),
    name: Type.String({ description: 'The name of the team.' }),
    memberCount: Type.Integer({ description: 'The number of its members.' }),
    createdAt: timestamp('When the team was created.'),
  },
  { id: exampleIds.team, name: 'Design', memberCount: 3, createdAt: exampleTime },
  'A team of a workspace.',
)
export type Team = Static<typeof Team>

const TeamMember = named(
  'TeamMember',
  {
    userId: Type.String({ description: 'The id of the person.' }),
    name: Type.String({ description: 'The name of the person.' }),
    image: nullableString({ description: 'The URL of the profile photo.' }),
    addedAt: timestamp('When the person was added to the team.'),
  },
  { userId: exampleIds.user, name: 'Grace Hopper', image: null, addedAt: exampleTime },
)
export type TeamMember = Static<typeof TeamMember>

const TeamCreation = named(
  'TeamCreation',
  { ok, team: ref(Team) },
  { ok: true, team: { ...exampleOf(Team), memberCount: 0 } },
)

export const teamsSchemas = [Team, TeamMember, TeamCreation]

const teamParams = pathParams('slug', 'teamId')
const teamBody = closed({ name: line(labelLengthMax) }, { examples: [{ name: 'Design' }] })
const managerErrors = [...workspaceErrors, errors.roleInsufficient]

export const teamsList = listOperation(
  {
    id: 'teams.list',
    summary: 'List the teams of a workspace',
    description: 'Oldest first.',
    params: slugParams,
    returns: 'A page of teams.',
    errors: workspaceErrors,
  },
  { item: Team },
)

export const teamsGet = operation({
  id: 'teams.get',
  summary: 'Read a team',
  description: 'With the number of its members.',
  params: teamParams,
  success: ref(Team),
  returns: 'The team.',
  errors: workspaceErrors,
})

export const teamsCreate = operation({
  id: 'teams.create',
  summary: 'Create a team',
  description: 'For owners and admins. Two teams of a workspace cannot have names that differ only in case.',
  params: slugParams,
  body: teamBody,
  success: ref(TeamCreation),
  returns: 'The new team.',
  errors: [...managerErrors, errors.teamNameTaken],
})

export const teamsRename = operation({
  id: 'teams.rename',
  summary: 'Rename a team',
  description: 'For owners and admins.',
  params: teamParams,
  body: teamBody,
  errors: [...managerErrors, errors.teamNameTaken],
})

export const teamsDelete = operation({
  id: 'teams.delete',
  summary: 'Delete a team',
  description: 'For owners and admins. Its members stay in the workspace.',
  params: teamParams,
  errors: managerErrors,
})

export const teamsListMembers = listOperation(
  {
    id: 'teams.listMembers',
    summary: 'List the members of a team',
    description: 'In the order in which they were added.',
    params: teamParams,
    returns: 'A page of team members.',
    errors: workspaceErrors,
  },
  { item: TeamMember },
)

export const teamsAddMember = operation({
  id: 'teams.addMember',
  summary: 'Add a member of the workspace to a team',
  description: 'For owners and admins. Returns 404 for a person who is not in the workspace.',
  params: teamParams,
  body: closed(
    { userId: Type.String({ description: 'The id of a member of the workspace.' }) },
    { examples: [{ userId: exampleIds.user }] },
  ),
  errors: [...managerErrors, errors.alreadyTeamMember],
})

export const teamsRemoveMember = operation({
  id: 'teams.removeMember',
  summary: 'Remove a person from a team',
  description: 'Everyone can leave a team with their own id. Owners and admins can remove others.',
  params: pathParams('slug', 'teamId', 'userId'),
  errors: managerErrors,
})
