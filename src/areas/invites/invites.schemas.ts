import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { pageQuery } from '../../http/pagination.ts'
import {
  closed,
  named,
  NullableTimestamp,
  nullableString,
  Ok,
  ref,
  stringEnum,
  Timestamp,
} from '../../http/schemas.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import { roles } from '../../kernel/roles.ts'

const Invite = named('Invite', {
  id: Type.String(),
  email: Type.String(),
  role: stringEnum(roles),
  status: stringEnum(['pending', 'expired']),
  invitedByUserId: Type.String(),
  invitedByName: Type.String(),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  lastSentAt: NullableTimestamp,
})

const InviteCreation = named('InviteCreation', {
  ok: Type.Literal(true),
  invite: ref(Invite),
  inviteUrl: Type.String({
    description: 'The link to the invite. It is shown here and sent by mail, and never again.',
  }),
})

const InviteResending = named('InviteResending', {
  ok: Type.Literal(true),
  inviteUrl: Type.String(),
  expiresAt: Timestamp,
})

const InvitePreview = named('InvitePreview', {
  workspaceName: Type.String(),
  workspaceSlug: Type.String(),
  workspaceIconUrl: nullableString(),
  email: Type.String(),
  role: stringEnum(roles),
  status: stringEnum(['pending', 'expired', 'accepted', 'revoked']),
  invitedByName: Type.String(),
  expiresAt: Timestamp,
  emailMatches: Type.Boolean({ description: "Whether the invite is for the caller's address." }),
})

const InviteAcceptance = named('InviteAcceptance', {
  ok: Type.Literal(true),
  workspaceId: Type.String(),
  slug: Type.String(),
  role: stringEnum(roles),
})

export const invitesSchemas = [Invite, InviteCreation, InviteResending, InvitePreview, InviteAcceptance]

const slugParams = Type.Object({ slug: Type.String() })
const inviteParams = Type.Object({ slug: Type.String(), inviteId: Type.String() })
const tokenParams = Type.Object({ token: Type.String() })

export const listInvites = operation({
  id: 'invites.list',
  summary: 'List the open invites of a workspace',
  description: 'For owners and admins. Oldest first, expired ones among them.',
  params: slugParams,
  querystring: closed(pageQuery),
  success: Type.Array(ref(Invite)),
})

export const createInvite = operation({
  id: 'invites.create',
  summary: 'Invite somebody into a workspace',
  description:
    'For owners and admins, with at most their own role. The invite is sent by mail and holds for seven days. 409 ' +
    '`already_invited`, `already_member`; 429 `too_many_invites`.',
  params: slugParams,
  body: closed({
    email: Type.String({ maxLength: emailLengthMax, format: 'email' }),
    role: stringEnum(roles),
  }),
  success: ref(InviteCreation),
})

export const resendInvite = operation({
  id: 'invites.resend',
  summary: 'Send an invite again',
  description: 'With a new link and for another seven days; the links before lead nowhere.',
  params: inviteParams,
  success: ref(InviteResending),
})

export const revokeInvite = operation({
  id: 'invites.revoke',
  summary: 'Withdraw an invite',
  description: 'Doing it twice is no error. 409 `invite_used` when it has been accepted.',
  params: inviteParams,
  success: ref(Ok),
})

export const updateInviteRole = operation({
  id: 'invites.updateRole',
  summary: 'Change the role that an invite gives',
  params: inviteParams,
  body: closed({ role: stringEnum(roles) }),
  success: ref(Ok),
})

export const getInvite = operation({
  id: 'invites.get',
  summary: 'Read an invite by its token',
  description: 'The token is the last part of the link.',
  params: tokenParams,
  success: ref(InvitePreview),
})

export const acceptInvite = operation({
  id: 'invites.accept',
  summary: 'Accept an invite',
  description:
    'The caller becomes a member. 409 `invite_expired`, `invite_revoked`, `invite_used`; 403 `invite_email_mismatch`, ' +
    '`email_unverified`.',
  params: tokenParams,
  success: ref(InviteAcceptance),
})
