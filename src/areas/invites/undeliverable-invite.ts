import { insertServiceEvent } from '../../access/event-log.repository.ts'
import { findMember, lockMembersOfWorkspace } from '../../access/memberships.repository.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { Database } from '../../db/client.ts'
import { notifyMembers } from '../notifications/notify.repository.ts'
import { recordInviteRefused } from './invites.repository.ts'

/**
 * Records that an invite cannot be delivered, with an event, and tells who invited, as long as they may see invites. Once for
 * each time that it is sent.
 */
export async function recordUndeliverable(
  db: Database,
  { inviteId, workspaceId, now }: { inviteId: string; workspaceId: string; now: Date },
): Promise<void> {
  // eslint-disable-next-line no-restricted-syntax -- a job has no principal
  await db.transaction(async (tx) => {
    await lockMembersOfWorkspace(tx, workspaceId)
    const invite = await recordInviteRefused(tx, inviteId, now)
    if (!invite) return
    const { email, invitedByUserId: userId } = invite
    const inviter = await findMember(tx, workspaceId, userId)
    if (inviter && isAllowed(inviter.role, 'invites.list')) {
      const notice = { kind: 'invite_undeliverable', data: {}, workspaceId, actor: null, at: now } as const
      await notifyMembers(tx, notice, [userId])
    }
    await insertServiceEvent(tx, {
      workspaceId,
      type: 'invite.undeliverable',
      data: { inviteId, email },
      at: now,
    })
  })
}
