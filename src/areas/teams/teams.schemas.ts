import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import { closed, line, named, nullableString, Ok, ref, Timestamp } from '../../http/schemas.ts'
import { labelLengthMax } from '../../kernel/text.ts'

const Team = named('Team', {
  id: Type.String(),
  name: Type.String(),
  memberCount: Type.Integer(),
  createdAt: Timestamp,
})

const TeamMember = named('TeamMember', {
  userId: Type.String(),
  name: Type.String(),
  image: nullableString({ description: 'The URL of the profile photo.' }),
  addedAt: Timestamp,
})

const TeamCreation = named('TeamCreation', { ok: Type.Literal(true), team: ref(Team) })

export const teamsSchemas = [Team, TeamMember, TeamCreation]

const slugParams = Type.Object({ slug: Type.String() })
const teamParams = Type.Object({ slug: Type.String(), teamId: Type.String() })
const teamBody = closed({ name: line(labelLengthMax) })

export const listTeams = operation({
  id: 'teams.list',
  summary: 'List the teams of a workspace',
  description: 'Oldest first.',
  params: slugParams,
  querystring: closed(pageQuery),
  success: Type.Array(ref(Team)),
})

export const createTeam = operation({
  id: 'teams.create',
  summary: 'Create a team',
  description: 'For owners and admins. 409 `team_name_taken`: names differ in more than case.',
  params: slugParams,
  body: teamBody,
  success: ref(TeamCreation),
})

export const renameTeam = operation({
  id: 'teams.rename',
  summary: 'Rename a team',
  params: teamParams,
  body: teamBody,
  success: ref(Ok),
})

export const deleteTeam = operation({
  id: 'teams.delete',
  summary: 'Delete a team',
  description: 'Its members stay in the workspace.',
  params: teamParams,
  success: ref(Ok),
})

export const listTeamMembers = operation({
  id: 'teams.listMembers',
  summary: 'List the members of a team',
  description: 'In the order in which they were added.',
  params: teamParams,
  querystring: closed(pageQuery),
  success: Type.Array(ref(TeamMember)),
})

export const addTeamMember = operation({
  id: 'teams.addMember',
  summary: 'Add a member of the workspace to a team',
  description: '404 for somebody who is not in the workspace; 409 `already_team_member`.',
  params: teamParams,
  body: closed({ userId: Type.String() }),
  success: ref(Ok),
})

export const removeTeamMember = operation({
  id: 'teams.removeMember',
  summary: 'Take somebody out of a team',
  description: 'Everybody may take themselves out.',
  params: Type.Object({ slug: Type.String(), teamId: Type.String(), userId: Type.String() }),
  success: ref(Ok),
})
