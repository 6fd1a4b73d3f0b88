import { Type } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/examples.ts'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import { closed, named, nullableString, Ok, ref, Role, Timestamp } from '../../http/schemas.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'

const Member = named(
  'Member',
  {
    userId: Type.String(),
    name: Type.String(),
    email: Type.String(),
    image: nullableString({ description: 'The URL of the profile photo.' }),
    role: ref(Role),
    joinedAt: Timestamp,
  },
  {
    userId: exampleIds.user,
    name: 'Grace Hopper',
    email: 'grace@example.com',
    image: null,
    role: 'admin',
    joinedAt: exampleTime,
  },
)

export const membersSchemas = [Member]

const memberParams = Type.Object({ slug: Type.String(), userId: Type.String() })
const changeErrors = [...workspaceErrors, errors.roleInsufficient, errors.roleTooHigh, errors.lastOwner]

export const listMembers = operation({
  id: 'members.list',
  summary: 'List the members of a workspace',
  description: 'In the order in which they joined.',
  params: Type.Object({ slug: Type.String() }),
  querystring: closed(pageQuery),
  success: Type.Array(ref(Member)),
  returns: 'A page of members.',
  errors: workspaceErrors,
})

export const updateMemberRole = operation({
  id: 'members.updateRole',
  summary: "Change a member's role",
  description:
    'For owners and admins. They can change people whose role is below their own, and themselves; owners can also ' +
    'change owners. The new role can be at most their own. The last owner stays an owner.',
  params: memberParams,
  body: closed({ role: ref(Role) }, { examples: [{ role: 'member' }] }),
  success: ref(Ok),
  errors: changeErrors,
})

export const removeMember = operation({
  id: 'members.remove',
  summary: 'Remove a member, or leave a workspace',
  description:
    'Everyone can leave with their own id. Owners and admins can remove others. The person also leaves the teams and ' +
    'seeds of the workspace, and their agents lose access to it. The last owner cannot leave.',
  params: memberParams,
  success: ref(Ok),
  errors: changeErrors,
})
