import type { ChangeContext } from '../../access/change.ts'
import { lockUser } from '../../users/users.repository.ts'
import type { Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import { canonicalizeEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import type { OmitEach } from '../../domain/events.ts'
import type { Principal, PrincipalUser } from '../../domain/principal.ts'
import type { Role } from '../../domain/roles.ts'
import type { NewEvent } from '../../access/event-log.repository.ts'
import { findMember, insertMemberIfNew, lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import { notifyMembers } from '../notifications/notify.repository.ts'
import { countMembershipsOfUser, membershipsMax } from '../workspaces/workspaces.repository.ts'
import { forgetDeparture } from '../members/departures.repository.ts'
import { insertMemberOfTeams, lockTeamsOfInvite } from './invite-teams.repository.ts'
import type { InvitePreview } from './invites.schemas.ts'
import { mayStillInvite } from './may-still-invite.ts'
import { closeInvite, type ReceivedInvite } from './received-invites.repository.ts'

/** The workspace that an invite led to, and the caller's role there. */
export interface AcceptedInvite {
  workspaceId: string
  slug: string
  role: Role
  /** The name of the workspace, and of who invited the caller. */
  workspaceName: string
  invitedByName: string
}

/** Finds the invite that is accepted, such as that of a link. */
export type FindInvite = (executor: Executor) => Promise<ReceivedInvite | undefined>

/**
 * Makes the caller a member, also of the teams of the invite, in the transaction of a change. `found` is what `find`
 * returned before it. Throws `not_found`, `invite_expired`, `invite_revoked`, `invite_declined`, `invite_used`,
 * `invite_email_mismatch`, `email_unverified` and `workspace_limit`.
 */
export async function acceptInvite(
  { tx, now, write, appendEvent }: ChangeContext<OmitEach<NewEvent, 'at'>>,
  input: { principal: Principal; found: ReceivedInvite; find: FindInvite },
): Promise<AcceptedInvite> {
  const { principal, found, find } = input
  const { user } = principal
  const { workspaceId } = found
  const [address, , invite, inviter, member, membershipCount, teamIds] = await together([
    lockUser(tx, user.id),
    lockMembersOfWorkspace(tx, workspaceId),
    // Read again under the lock: it may have been accepted, revoked, changed or resent meanwhile.
    find(tx),
    findMember(tx, workspaceId, found.invitedByUserId),
    findMember(tx, workspaceId, user.id),
    countMembershipsOfUser(tx, user.id),
    lockTeamsOfInvite(tx, found),
  ])
  if (!invite || !address) throw errors.notFound()
  assertOwn(invite, address)
  assertPending(invite, now)
  if (!inviter || inviter.isSuspended || !mayStillInvite(inviter.role, invite.role))
    throw errors.inviteRevoked()
  if (membershipCount >= membershipsMax) throw errors.workspaceLimit()
  write(() => closeInvite(tx, { id: invite.id, workspaceId }, 'accepted'))
  const { workspaceSlug: slug, workspaceName, invitedByName } = invite
  const accepted = { workspaceId, slug, workspaceName, invitedByName }
  const invitedBy = { invitedByUserId: invite.invitedByUserId, invitedByName }
  const notice = { workspaceId, actor: principal, at: now }
  const tellInviter = () =>
    write(() => notifyMembers(tx, { kind: 'invite_accepted', data: {}, ...notice }, [invite.invitedByUserId]))
  if (member) {
    // They joined by domain meanwhile, and keep their role.
    appendEvent({
      workspaceId,
      type: 'invite.accepted',
      data: { inviteId: invite.id, ...invitedBy },
    })
    tellInviter()
    return { ...accepted, role: member.role }
  }
  const { role } = invite
  const row = { workspaceId, userId: user.id, role, joinedAt: now, lastUsedAt: now }
  write(() => insertMemberIfNew(tx, row))
  write(() => forgetDeparture(tx, workspaceId, user.id))
  if (teamIds.length > 0)
    write(() => insertMemberOfTeams(tx, { workspaceId, userId: user.id, teamIds, at: now }))
  appendEvent({
    workspaceId,
    type: 'member.joined',
    data: {
      userId: user.id,
      name: user.name,
      role,
      inviteId: invite.id,
      ...invitedBy,
      domain: null,
      teamIds,
    },
  })
  tellInviter()
  return { ...accepted, role }
}

/**
 * Declines an invite of the caller, in the transaction of a change. Does nothing if they have declined it before. Throws
 * what `acceptInvite` throws, except `workspace_limit`.
 */
export async function declineInvite(
  { tx, now, write, appendEvent }: ChangeContext<OmitEach<NewEvent, 'at'>>,
  { principal, found, find }: { principal: Principal; found: ReceivedInvite; find: FindInvite },
): Promise<void> {
  const { workspaceId } = found
  const [, invite] = await together([lockMembersOfWorkspace(tx, workspaceId), find(tx)])
  if (!invite) throw errors.notFound()
  assertOwn(invite, principal.user)
  if (invite.state === 'declined') return
  assertPending(invite, now)
  const { id, email } = invite
  write(() => closeInvite(tx, { id, workspaceId }, 'declined'))
  appendEvent({ workspaceId, type: 'invite.declined', data: { inviteId: id, email } })
}

/** Throws `invite_email_mismatch` and `email_unverified`. */
function assertOwn(
  invite: ReceivedInvite,
  { email, emailVerifiedAt }: Pick<PrincipalUser, 'email' | 'emailVerifiedAt'>,
): void {
  if (!isSameAddress(email, invite.email)) throw errors.inviteEmailMismatch()
  if (emailVerifiedAt === null) throw errors.emailUnverified()
}

/** Throws `invite_used`, `invite_declined`, `invite_revoked` and `invite_expired`. */
export function assertPending(invite: ReceivedInvite, now: Date): void {
  const status = statusOf(invite, now)
  if (status === 'accepted') throw errors.inviteUsed()
  if (status === 'declined') throw errors.inviteDeclined()
  if (status === 'revoked') throw errors.inviteRevoked()
  if (status === 'expired') throw errors.inviteExpired()
}

/** What has become of an invite. One that was replaced by a newer one has expired. */
export function statusOf(
  { state, expiresAt }: Pick<ReceivedInvite, 'state' | 'expiresAt'>,
  now: Date,
): InvitePreview['status'] {
  if (state === 'accepted' || state === 'declined' || state === 'revoked') return state
  return state === 'replaced' || expiresAt <= now ? 'expired' : 'pending'
}

/** Whether two email addresses are the same, in any spelling. */
export function isSameAddress(address: string, other: string): boolean {
  const canonical = canonicalizeEmail(address)
  return address === other || (canonical !== undefined && canonical === canonicalizeEmail(other))
}
