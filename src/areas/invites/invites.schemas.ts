import { Type, type Static } from '@sinclair/typebox'
import {
  exampleExpiry,
  exampleIds,
  exampleImageUrl,
  exampleInviteUrl,
  exampleTime,
} from '../../http/description/examples.ts'
import { listOperation, operation, slugParams } from '../../http/description/operation.ts'
import {
  closed,
  exampleOf,
  named,
  NullableTimestamp,
  nullableString,
  ref,
  Role,
  stringEnum,
  Timestamp,
} from '../../kernel/schemas.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'

const Invite = named(
  'Invite',
  {
    id: Type.String(),
    email: Type.String(),
    role: ref(Role),
    status: stringEnum(['pending', 'expired']),
    invitedByUserId: Type.String(),
    invitedByName: Type.String(),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    lastSentAt: NullableTimestamp,
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
  },
)
export type Invite = Static<typeof Invite>

const InviteCreation = named(
  'InviteCreation',
  {
    ok: Type.Literal(true),
    invite: ref(Invite),
    inviteUrl: Type.String({
      description: 'The link to the invite. It is sent by email and returned only here.',
    }),
  },
  { ok: true, invite: exampleOf(Invite), inviteUrl: exampleInviteUrl },
)

const InviteResending = named(
  'InviteResending',
  { ok: Type.Literal(true), inviteUrl: Type.String(), expiresAt: Timestamp },
  { ok: true, inviteUrl: exampleInviteUrl, expiresAt: exampleExpiry },
)

const InvitePreview = named(
  'InvitePreview',
  {
    workspaceName: Type.String(),
    workspaceSlug: Type.String(),
    workspaceIconUrl: nullableString(),
    email: Type.String(),
    role: ref(Role),
    status: stringEnum(['pending', 'expired', 'accepted', 'revoked']),
    invitedByName: Type.String(),
    expiresAt: Timestamp,
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

const InviteAcceptance = named(
  'InviteAcceptance',
  { ok: Type.Literal(true), workspaceId: Type.String(), slug: Type.String(), role: ref(Role) },
  { ok: true, workspaceId: exampleIds.workspace, slug: 'acme', role: 'member' },
)

export const invitesSchemas = [Invite, InviteCreation, InviteResending, InvitePreview, InviteAcceptance]

const inviteParams = Type.Object({ slug: Type.String(), inviteId: Type.String() })
const tokenParams = Type.Object({ token: Type.String() })
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

export const invitesCreate = operation({
  id: 'invites.create',
  summary: 'Invite a person to a workspace',
  description:
    'For owners and admins. The role can be at most their own. The invite is sent by email and is valid for seven days.',
  params: slugParams,
  body: closed(
    { email: Type.String({ maxLength: emailLengthMax, format: 'email' }), role: ref(Role) },
    { examples: [{ email: 'ada@example.com', role: 'member' }] },
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
    errors.inviteRevoked,
    errors.tooManyInvites,
    errors.tooManyInvitesToRecipient,
  ],
})

export const invitesRevoke = operation({
  id: 'invites.revoke',
  summary: 'Revoke an invite',
  description: 'Revoking a revoked invite succeeds.',
  params: inviteParams,
  errors: [...managerErrors, errors.roleTooHigh, errors.inviteUsed],
})

export const invitesUpdateRole = operation({
  id: 'invites.updateRole',
  summary: 'Change the role that an invite grants',
  description: 'For owners and admins. The role can be at most their own.',
  params: inviteParams,
  body: closed({ role: ref(Role) }, { examples: [{ role: 'viewer' }] }),
  errors: [...managerErrors, errors.roleTooHigh, errors.inviteUsed, errors.inviteRevoked],
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
  description: 'The caller becomes a member of the workspace.',
  params: tokenParams,
  success: ref(InviteAcceptance),
  returns: 'The workspace that the caller has joined, and the role in it.',
  errors: [
    errors.notFound,
    errors.inviteEmailMismatch,
    errors.emailUnverified,
    errors.inviteUsed,
    errors.inviteRevoked,
    errors.inviteExpired,
    errors.workspaceLimit,
  ],
})
