import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleImageUrl, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { Role } from '../../domain/roles.ts'
import { userKinds } from '../../domain/service-accounts.ts'
import {
  closed,
  named,
  nullableString,
  nullableTimestamp,
  ref,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'

/** Of `lastActivityAt`. */
export const lastActivityText =
  'When the person, or an agent for them, last did something that everybody in the workspace may see: the time of the ' +
  'newest of these events, to the minute. Null: nothing since they joined.'

/** Of `suspended`. */
export const suspendedText =
  'Whether an operator of the service has suspended the person: they cannot sign in, their keys and agents do not work, and ' +
  'they cannot be mentioned, asked or made a lead.'

const Member = named(
  'Member',
  {
    userId: Type.String({ description: 'The id of the person.' }),
    name: Type.String({ description: 'The name of the person.' }),
    email: Type.String({ description: 'The email address of the person.' }),
    image: nullableString({ description: 'The URL of the profile photo.' }),
    role: ref(Role),
    kind: stringEnum(userKinds, {
      description: 'Whether it is a person, or a service account (`service`): a program of the workspace.',
    }),
    suspended: Type.Boolean({ description: suspendedText }),
    joinedAt: timestamp('When the person joined the workspace.'),
    lastActivityAt: nullableTimestamp(lastActivityText),
  },
  {
    userId: exampleIds.user,
    name: 'Grace Hopper',
    email: 'grace@example.com',
    image: null,
    role: 'admin',
    kind: 'person',
    suspended: false,
    joinedAt: exampleTime,
    lastActivityAt: exampleTime,
  },
)
export type Member = Static<typeof Member>

/** A workspace that allows the domain of the caller's email address, of `me.listOffers`. */
export const Offer = named(
  'WorkspaceOffer',
  {
    workspaceId: Type.String({ description: 'The id of the workspace.' }),
    workspaceName: Type.String({ description: 'The name of the workspace.' }),
    workspaceSlug: Type.String({ description: 'The current slug of the workspace.' }),
    workspaceIconUrl: nullableString({
      description: 'The URL of the icon of the workspace. Null: it has none.',
    }),
    memberCount: Type.Integer({ description: 'How many people are in the workspace.' }),
  },
  {
    workspaceId: exampleIds.workspace,
    workspaceName: 'Acme',
    workspaceSlug: 'acme',
    workspaceIconUrl: exampleImageUrl,
    memberCount: 12,
  },
)
export type Offer = Static<typeof Offer>

export const membersSchemas = [Member, Offer]

const memberParams = pathParams('slug', 'userId')
const changeErrors = [
  ...workspaceErrors,
  errors.roleInsufficient,
  errors.roleTooHigh,
  errors.isServiceAccount,
  errors.lastOwner,
]

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

export const membersGet = operation({
  id: 'members.get',
  summary: 'Read a member of a workspace',
  description: 'For all members of the workspace.',
  params: memberParams,
  success: ref(Member),
  returns: 'The member, as `members.list` has them.',
  errors: workspaceErrors,
})

export const membersUpdateRole = operation({
  id: 'members.updateRole',
  summary: "Change a member's role",
  description:
    'For owners and admins. They can change people whose role is below their own, and themselves; owners can also ' +
    'change owners. The new role can be at most their own. The last owner must stay an owner, and nobody who is suspended becomes one.',
  params: memberParams,
  body: closed({ role: ref(Role) }, { examples: [{ role: 'member' }] }),
  errors: [...changeErrors, errors.memberSuspended],
})

export const membersRemove = operation({
  id: 'members.remove',
  summary: 'Remove a member, or leave a workspace',
  description:
    'Everyone can leave with their own id. Owners and admins can remove others. The person also leaves the teams and ' +
    'seeds of the workspace, which then have no lead if the person led them, and their agents lose access to it. The last owner cannot leave.',
  params: memberParams,
  errors: changeErrors,
})
