import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import { closed, named, nullableString, Ok, ref, stringEnum, Timestamp } from '../../http/schemas.ts'
import { roles } from '../../kernel/roles.ts'

const Member = named('Member', {
  userId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  image: nullableString({ description: 'The URL of the profile photo.' }),
  role: stringEnum(roles),
  joinedAt: Timestamp,
})

export const membersSchemas = [Member]

const memberParams = Type.Object({ slug: Type.String(), userId: Type.String() })

export const listMembers = operation({
  id: 'members.list',
  summary: 'List the members of a workspace',
  description: 'In the order in which they joined.',
  params: Type.Object({ slug: Type.String() }),
  querystring: closed(pageQuery),
  success: Type.Array(ref(Member)),
})

export const updateMemberRole = operation({
  id: 'members.updateRole',
  summary: "Change a member's role",
  description:
    'For owners and admins. On people whose role is below yours, on yourself, and as an owner on owners; at most your ' +
    'own role can be given (403 `role_too_high`). The last owner stays one (409 `last_owner`).',
  params: memberParams,
  body: closed({ role: stringEnum(roles) }),
  success: ref(Ok),
})

export const removeMember = operation({
  id: 'members.remove',
  summary: 'Remove a member, or leave',
  description:
    'Your own id: leave, which everybody may. Somebody else: for owners and admins. Ends their places in teams and ' +
    'seeds and the access of their agents. The last owner stays (409 `last_owner`).',
  params: memberParams,
  success: ref(Ok),
})
