import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../http/description/operation.ts'
import { closed, named, nullableString, ref, Role, Timestamp } from '../../kernel/schemas.ts'
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
export type Member = Static<typeof Member>

export const membersSchemas = [Member]

const memberParams = Type.Object({ slug: Type.String(), userId: Type.String() })
const changeErrors = [...workspaceErrors, errors.roleInsufficient, errors.roleTooHigh, errors.lastOwner]

export const membersList = listOperation(
  {
    id: 'members.list',
    summary: 'List the members of a workspace',
    description: 'In the order in which they joined.',
    params: slugParams,
    returns: 'A page of members.',
    errors: workspaceErrors,
  },
  { item: Member },
)

export const membersUpdateRole = operation({
  id: 'members.updateRole',
  summary: "Change a member's role",
  description:
    'For owners and admins. They can change people whose role is below their own, and themselves; owners can also ' +
    'change owners. The new role can be at most their own. The last owner must stay an owner.',
  params: memberParams,
  body: closed({ role: ref(Role) }, { examples: [{ role: 'member' }] }),
  errors: changeErrors,
})

export const membersRemove = operation({
  id: 'members.remove',
  summary: 'Remove a member, or leave a workspace',
  description:
    'Everyone can leave with their own id. Owners and admins can remove others. The person also leaves the teams and ' +
    'seeds of the workspace, and their agents lose access to it. The last owner cannot leave.',
  params: memberParams,
  errors: changeErrors,
})
