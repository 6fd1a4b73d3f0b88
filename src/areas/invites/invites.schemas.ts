import { Type, type Static } from '@sinclair/typebox'
import {
  exampleExpiry,
  exampleIds,
  exampleImageUrl,
  exampleInviteUrl,
  exampleTime,
} from '../../http/description/examples.ts'
import { listOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { Role } from '../../domain/roles.ts'
import {
  closed,
  exampleOf,
  named,
  nullableString,
  nullableTimestamp,
  ok,
  ref,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { inviteTeamsMax } from '../../kernel/invites.ts'

export const Invite = named(
  'Invite',
  {
    id: Type.String({ description: 'The id of the invite.' }),
    email: Type.String({ description: 'The email address that the invite is for.' }),
    role: ref(Role),
    status: stringEnum(['pending', 'expired', 'accepted', 'declined', 'revoked'], {
      description:
        '`pending`: it can be accepted. `expired`: it can be sent again, unless its address was invited anew. The others have ' +
        'ended, and are not in lists.',
    }),
    invitedByUserId: Type.String({ description: 'The id of the person who created the invite.' }),
    invitedByName: Type.String({ description: 'The name of that person.' }),
    createdAt: timestamp('When the invite was created.'),
    expiresAt: timestamp('When the invite stops working.'),
    lastSentAt: nullableTimestamp('When it was last sent by email. Null: not yet.'),
    delivery: stringEnum(['waiting', 'sent', 'refused'], {
      description:
        'What became of its last mail. `waiting`: not sent yet. `sent`: the mail server accepted it. `refused`: there is no such address.',
    }),
  },
  {
    id: exampleIds.invite,
    email: 'ada@example.com',
    role: 'member',
    status: 'pending',
    invitedByUserId: exampleIds.user,
    invitedByName: 'Grace Hopper',
    createdAt: exampleTime,
    expiresAt: exampleExpiry,
    lastSentAt: null,
    delivery: 'waiting',
  },
  'An invite to a workspace.',
)
export type Invite = Static<typeof Invite>

const InviteCreation = named(
  'InviteCreation',
  {
    ok,
    invite: ref(Invite),
    inviteUrl: Type.String({
      description: 'The link to the invite. It is sent by email and returned only here.',
    }),
  },
  { ok: true, invite: exampleOf(Invite), inviteUrl: exampleInviteUrl },
)

const InviteResending = named(
  'InviteResending',
  {
    ok,
    inviteUrl: Type.String({ description: 'The new link. It is sent by email too and returned only here.' }),
    expiresAt: timestamp('When the new link stops working.'),
  },
  { ok: true, inviteUrl: exampleInviteUrl, expiresAt: exampleExpiry },
)

const InvitePreview = named(
  'InvitePreview',
  {
    workspaceName: Type.String({ description: 'The name of the workspace.' }),
    workspaceSlug: Type.String({ description: 'The current slug of the workspace.' }),
    workspaceIconUrl: nullableString({
      description: 'The URL of the icon of the workspace. Null: it has none.',
    }),
    email: Type.String({ description: 'The email address that the invite is for.' }),
    role: ref(Role),
    status: stringEnum(['pending', 'expired', 'accepted', 'declined', 'revoked'], {
      description: 'Only a `pending` invite can be accepted.',
    }),
    invitedByName: Type.String({ description: 'The name of the person who created the invite.' }),
    expiresAt: timestamp('When the invite stops working.'),
    emailMatches: Type.Boolean({ description: "Whether the invite is for the caller's email address." }),
  },
  {
    workspaceName: 'Acme',
    workspaceSlug: 'acme',
    workspaceIconUrl: exampleImageUrl,
    email: 'ada@example.com',
    role: 'member',
    status: 'pending',
    invitedByName: 'Grace Hopper',
    expiresAt: exampleExpiry,
    emailMatches: true,
  },
)
export type InvitePreview = Static<typeof InvitePreview>

export const InviteAcceptance = named(
  'InviteAcceptance',
  {
    ok,
    workspaceId: Type.String({ description: 'The id of the workspace.' }),
    slug: Type.String({ description: 'The current slug of the workspace.' }),
    role: ref(Role),
  },
  { ok: true, workspaceId: exampleIds.workspace, slug: 'acme', role: 'member' },
)

/** An invite as the list of its recipient has it, of `me.listInvites`. */
export const OwnInvite = named(
  'OwnInvite',
  {
    id: Type.String({ description: 'The id of the invite.' }),
    workspaceName: Type.String({ description: 'The name of the workspace.' }),
    workspaceSlug: Type.String({ description: 'The current slug of the workspace.' }),
    workspaceIconUrl: nullableString({
      description: 'The URL of the icon of the workspace. Null: it has none.',
    }),
    role: ref(Role),
    invitedByName: Type.String({ description: 'The name of the person who created the invite.' }),
    expiresAt: timestamp('When the invite stops working.'),
  },
  {
    id: exampleIds.invite,
    workspaceName: 'Acme',
    workspaceSlug: 'acme',
    workspaceIconUrl: exampleImageUrl,
    role: 'member',
    invitedByName: 'Grace Hopper',
    expiresAt: exampleExpiry,
  },
  'An invite that the caller can accept.',
)
export type OwnInvite = Static<typeof OwnInvite>

export const invitesSchemas = [
  Invite,
  InviteCreation,
  InviteResending,
  InvitePreview,
  InviteAcceptance,
  OwnInvite,
]

const inviteParams = pathParams('slug', 'inviteId')
const tokenParams = pathParams('token')
/** The errors of accepting an invite that is no longer open. */
export const closedInviteErrors = [
  errors.inviteUsed,
  errors.inviteDeclined,
  errors.inviteRevoked,
  errors.inviteExpired,
]
const managerErrors = [...workspaceErrors, errors.roleInsufficient]

export const invitesList = listOperation(
  {
    id: 'invites.list',
    summary: 'List the open invites of a workspace',
    description: 'For owners and admins. Oldest first, including expired invites.',
    params: slugParams,
    returns: 'A page of open invites.',
    errors: managerErrors,
  },
  { item: Invite },
)

export const invitesGetById = operation({
  id: 'invites.getById',
  summary: 'Read an invite by its id',
  description:
    'For owners and admins. Invites that were accepted, declined or revoked too, which `invites.list` leaves out.',
  params: inviteParams,
  success: ref(Invite),
  returns: 'The invite, as `invites.list` has it.',
  errors: managerErrors,
})

export const invitesCreate = operation({
  id: 'invites.create',
  summary: 'Invite a person to a workspace',
  description:
    'For owners and admins. The role can be at most their own. The invite is sent by email and is valid for seven days. ' +
    'The person joins its teams with the workspace, except those that are deleted by then; a member who accepts keeps ' +
    'their role and teams.',
  params: slugParams,
  body: closed(
    {
      email: Type.String({
        maxLength: emailLengthMax,
        description: 'The email address to send the invite to. Its domain may be in any script.',
      }),
      role: ref(Role),
      teamIds: Type.Optional(
        Type.Array(Type.String(), {
          maxItems: inviteTeamsMax,
          description: 'The ids of the teams that the person joins with the workspace.',
        }),
      ),
    },
    { examples: [{ email: 'ada@example.com', role: 'member', teamIds: [exampleIds.team] }] },
  ),
  success: ref(InviteCreation),
  returns: 'The new invite with its link.',
  errors: [
    ...managerErrors,
    errors.emailInvalid,
    errors.roleTooHigh,
    errors.alreadyMember,
    errors.alreadyInvited,
    errors.tooManyInvites,
    errors.tooManyInvitesToRecipient,
  ],
})

export const invitesResend = operation({
  id: 'invites.resend',
  summary: 'Send an invite again',
  description: 'Sends a new link, valid for seven days. Earlier links stop working.',
  params: inviteParams,
  success: ref(InviteResending),
  returns: 'The new link and its expiry.',
  errors: [
    ...managerErrors,
    errors.roleTooHigh,
    errors.inviteUsed,
    errors.inviteDeclined,
    errors.inviteRevoked,
    errors.tooManyInvites,
    errors.tooManyInvitesToRecipient,
  ],
})

export const invitesRevoke = operation({
  id: 'invites.revoke',
  summary: 'Revoke an invite',
  description: 'Revoking an invite that was revoked or declined succeeds, and changes nothing.',
  params: inviteParams,
  errors: [...managerErrors, errors.roleTooHigh, errors.inviteUsed],
})

export const invitesUpdateRole = operation({
  id: 'invites.updateRole',
  summary: 'Change the role that an invite grants',
  description: 'For owners and admins. The role can be at most their own.',
  params: inviteParams,
  body: closed({ role: ref(Role) }, { examples: [{ role: 'viewer' }] }),
  errors: [
    ...managerErrors,
    errors.roleTooHigh,
    errors.inviteUsed,
    errors.inviteDeclined,
    errors.inviteRevoked,
  ],
})

export const invitesGet = operation({
  id: 'invites.get',
  summary: 'Read an invite by its token',
  description: 'The token is the last part of the link.',
  params: tokenParams,
  success: ref(InvitePreview),
  returns: 'The invite, as its recipient sees it.',
  errors: [errors.notFound],
})

export const invitesAccept = operation({
  id: 'invites.accept',
  summary: 'Accept an invite',
  description: 'The caller becomes a member of the workspace, and of the teams of the invite.',
  params: tokenParams,
  success: ref(InviteAcceptance),
  returns: 'The workspace that the caller has joined, and the role in it.',
  errors: [
    errors.notFound,
    errors.inviteEmailMismatch,
    errors.emailUnverified,
    ...closedInviteErrors,
    errors.workspaceLimit,
  ],
})

export const invitesDecline = operation({
  id: 'invites.decline',
  summary: 'Decline an invite',
  description: 'It can no longer be accepted. Declining it again succeeds.',
  params: tokenParams,
  errors: [
    errors.notFound,
    errors.inviteEmailMismatch,
    errors.emailUnverified,
    errors.inviteUsed,
    errors.inviteRevoked,
    errors.inviteExpired,
  ],
})
