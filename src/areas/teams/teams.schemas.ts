import { Type } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/examples.ts'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import { closed, exampleOf, line, named, nullableString, Ok, ref, Timestamp } from '../../http/schemas.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { labelLengthMax } from '../../kernel/text.ts'

const Team = named(
  'Team',
  {
    id: Type.String(),
    name: Type.String(),
    memberCount: Type.Integer(),
    createdAt: Timestamp,
  },
  { id: exampleIds.team, name: 'Design', memberCount: 3, createdAt: exampleTime },
)

const TeamMember = named(
  'TeamMember',
  {
    userId: Type.String(),
    name: Type.String(),
    image: nullableString({ description: 'The URL of the profile photo.' }),
    addedAt: Timestamp,
  },
  { userId: exampleIds.user, name: 'Grace Hopper', image: null, addedAt: exampleTime },
)

const TeamCreation = named(
  'TeamCreation',
  { ok: Type.Literal(true), team: ref(Team) },
  { ok: true, team: { ...exampleOf(Team), memberCount: 0 } },
)

export const teamsSchemas = [Team, TeamMember, TeamCreation]

const slugParams = Type.Object({ slug: Type.String() })
const teamParams = Type.Object({ slug: Type.String(), teamId: Type.String() })
const teamBody = closed({ name: line(labelLengthMax) }, { examples: [{ name: 'Design' }] })
const managerErrors = [...workspaceErrors, errors.roleInsufficient]

export const listTeams = operation({
  id: 'teams.list',
  summary: 'List the teams of a workspace',
  description: 'Oldest first.',
  params: slugParams,
  querystring: closed(pageQuery),
  success: Type.Array(ref(Team)),
  returns: 'A page of teams.',
  errors: workspaceErrors,
})

export const createTeam = operation({
  id: 'teams.create',
  summary: 'Create a team',
  description: 'For owners and admins. Two teams of a workspace cannot have names that differ only in case.',
  params: slugParams,
  body: teamBody,
  success: ref(TeamCreation),
  returns: 'The new team.',
  errors: [...managerErrors, errors.teamNameTaken],
})

export const renameTeam = operation({
  id: 'teams.rename',
  summary: 'Rename a team',
  description: 'For owners and admins.',
  params: teamParams,
  body: teamBody,
  success: ref(Ok),
  errors: [...managerErrors, errors.teamNameTaken],
})

export const deleteTeam = operation({
  id: 'teams.delete',
  summary: 'Delete a team',
  description: 'For owners and admins. Its members stay in the workspace.',
  params: teamParams,
  success: ref(Ok),
  errors: managerErrors,
})

export const listTeamMembers = operation({
  id: 'teams.listMembers',
  summary: 'List the members of a team',
  description: 'In the order in which they were added.',
  params: teamParams,
  querystring: closed(pageQuery),
  success: Type.Array(ref(TeamMember)),
  returns: 'A page of team members.',
  errors: workspaceErrors,
})

export const addTeamMember = operation({
  id: 'teams.addMember',
  summary: 'Add a member of the workspace to a team',
  description: 'For owners and admins. A person who is not in the workspace is 404.',
  params: teamParams,
  body: closed({ userId: Type.String() }, { examples: [{ userId: exampleIds.user }] }),
  success: ref(Ok),
  errors: [...managerErrors, errors.alreadyTeamMember],
})

export const removeTeamMember = operation({
  id: 'teams.removeMember',
  summary: 'Remove a person from a team',
  description: 'Everyone can leave a team with their own id. Owners and admins can remove others.',
  params: Type.Object({ slug: Type.String(), teamId: Type.String(), userId: Type.String() }),
  success: ref(Ok),
  errors: managerErrors,
})
