import type { ChangeContext } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import { lockUser } from '../../accounts/users/users.repository.ts'
import type { Executor } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import { canonicalizeEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import { mayGrant, type Role } from '../../kernel/roles.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { NewEvent } from '../../access/event-log.repository.ts'
import { findMember, insertMemberIfNew, lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import { countMembershipsOfUser, membershipsMax } from '../workspaces/workspaces.repository.ts'
import type { InvitePreview } from './invites.schemas.ts'
import { markInviteAccepted, type ReceivedInvite } from './received-invites.repository.ts'

/** The workspace that an invite led to, and the caller's role there. */
export interface AcceptedInvite {
  workspaceId: string
  slug: string
  role: Role
}

/** Finds the invite that is accepted, such as that of a link. */
export type FindInvite = (executor: Executor) => Promise<ReceivedInvite | undefined>

/**
 * Makes the caller a member in the transaction of a change. `found` is what `find` returned before it. Throws `not_found`,
 * `invite_expired`, `invite_revoked`, `invite_used`, `invite_email_mismatch`, `email_unverified` and `workspace_limit`.
 */
export async function acceptInvite(
  { tx, now, write, appendEvent }: ChangeContext<Omit<NewEvent, 'at'>>,
  input: { principal: Principal; found: ReceivedInvite; find: FindInvite; jobs: JobQueue },
): Promise<AcceptedInvite> {
  const { principal, found, find, jobs } = input
  const { user } = principal
  const { workspaceId } = found
  const [, , invite, inviter, member, membershipCount] = await together([
    lockUser(tx, user.id),
    lockMembersOfWorkspace(tx, workspaceId),
    // Read again under the lock: it may have been accepted, revoked, changed or resent meanwhile.
    find(tx),
    findMember(tx, workspaceId, found.invitedByUserId),
    findMember(tx, workspaceId, user.id),
    countMembershipsOfUser(tx, user.id),
  ])
  if (!invite) throw errors.notFound()
  assertAcceptable(invite, principal, now)
  if (!inviter || !mayStillInvite(inviter.role, invite.role)) throw errors.inviteRevoked()
  if (membershipCount >= membershipsMax) throw errors.workspaceLimit()
  write(() => markInviteAccepted(tx, invite.id))
  const accepted = { workspaceId, slug: invite.workspaceSlug }
  if (member) {
    // They joined by domain meanwhile, and keep their role.
    appendEvent({
      workspaceId,
      type: 'invite.accepted',
      target: { type: 'invite', id: invite.id },
      summary: `${user.name} accepted the invite of ${invite.invitedByName} but was already a member`,
    })
    return { ...accepted, role: member.role }
  }
  const { role } = invite
  const row = { workspaceId, userId: user.id, role, joinedAt: now, lastUsedAt: now }
  write(() => insertMemberIfNew(tx, row))
  appendEvent({
    workspaceId,
    type: 'member.joined',
    target: { type: 'user', id: user.id },
    summary: `${user.name} accepted the invite of ${invite.invitedByName} and joined as ${role}`,
  })
  const payload = { inviteId: invite.id, memberName: user.name }
  write(() => jobs.enqueue(tx, 'send_invite_accepted', payload))
  return { ...accepted, role }
}

function assertAcceptable(invite: ReceivedInvite, { user }: Principal, now: Date): void {
  if (!isSameAddress(user.email, invite.email)) throw errors.inviteEmailMismatch()
  if (user.emailVerifiedAt === null) throw errors.emailUnverified()
  assertPending(invite, now)
}

/** Throws `invite_used`, `invite_revoked` and `invite_expired`. */
export function assertPending(invite: ReceivedInvite, now: Date): void {
  const status = statusOf(invite, now)
  if (status === 'accepted') throw errors.inviteUsed()
  if (status === 'revoked') throw errors.inviteRevoked()
  if (status === 'expired') throw errors.inviteExpired()
}

/** Whether somebody of a role may still be invited by a member of another, whose role may have changed since. */
export function mayStillInvite(inviterRole: Role, role: Role): boolean {
  return isAllowed(inviterRole, 'invites.create') && mayGrant(inviterRole, role)
}

/** What has become of an invite. One that was replaced by a newer one has expired. */
export function statusOf(
  { state, expiresAt }: Pick<ReceivedInvite, 'state' | 'expiresAt'>,
  now: Date,
): InvitePreview['status'] {
  if (state === 'accepted' || state === 'revoked') return state
  return state === 'replaced' || expiresAt <= now ? 'expired' : 'pending'
}

/** Whether two email addresses are the same, in any spelling. */
export function isSameAddress(address: string, other: string): boolean {
  const canonical = canonicalizeEmail(address)
  return address === other || (canonical !== undefined && canonical === canonicalizeEmail(other))
}
