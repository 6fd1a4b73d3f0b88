import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createToken, hashSecret } from '../../kernel/tokens.ts'
import { inviteMail, invitesAcceptedMail } from '../../mail/workspace-mails.ts'
import { JobEndsError, type JobHandlers } from '../../platform/jobs/jobs.port.ts'
import type { Mails } from '../../mail/mails.ts'
import type { UnsubscribeLinks } from '../notifications/unsubscribe-links.ts'
import { findNoticeRecipient } from '../members/members.repository.ts'
import {
  findInviteOrigin,
  findInviteToSend,
  insertInviteToken,
  recordInviteSent,
} from './invites.repository.ts'
import { recordUndeliverable } from './undeliverable-invite.ts'
import { inviteUrlOf, mailSettingsUrlOf } from '../../domain/links.ts'

/** The mails about invites. */
export function createInvitesJobs(options: {
  db: Database
  clock: Clock
  mails: Mails
  links: UnsubscribeLinks
  webUrl: string
}): Pick<JobHandlers, 'send_invite' | 'send_invite_accepted'> {
  const { db, clock, mails, links, webUrl } = options
  return {
    async send_invite({ inviteId }, job) {
      const invite = await findInviteToSend(db, inviteId, clock.now())
      if (!invite) return
      // The token is created now, so that none can be read from the job queue.
      const token = createToken()
      await insertInviteToken(db, { inviteId, tokenHash: hashSecret(token), isMailed: true })
      const { workspaceId } = invite
      const mail = {
        ...inviteMail({ ...invite, inviteUrl: inviteUrlOf(webUrl, token), now: clock.now() }),
        to: { name: '', address: invite.email },
        id: `invite-${job.id}`,
      }
      try {
        await mails.send(mail, job, { inviteId, workspaceId })
      } catch (error) {
        if (error instanceof JobEndsError)
          await recordUndeliverable(db, { inviteId, workspaceId, now: clock.now() })
        throw error
      }
      await recordInviteSent(db, { workspaceId, inviteId }, clock.now())
    },

    async send_invite_accepted({ inviteId, memberName }, job) {
      const origin = await findInviteOrigin(db, inviteId)
      if (!origin) return
      const { workspaceId, invitedByUserId: userId } = origin
      const recipient = await findNoticeRecipient(db, { workspaceId, userId }, 'acceptedInvites')
      if (!recipient) return
      const { workspaceName, workspaceSlug } = recipient
      const url = `${webUrl}/w/${workspaceSlug}`
      await mails.send(
        {
          ...invitesAcceptedMail({
            accepted: [{ memberName, workspaceName, url }],
            count: 1,
            link: { label: 'Open the workspace', url },
            settingsUrl: mailSettingsUrlOf(webUrl),
          }),
          to: { name: recipient.name, address: recipient.email },
          id: `invite-accepted-${job.id}`,
          unsubscribeUrl: links.urlOf(origin.invitedByUserId),
        },
        job,
        { userId, workspaceId },
      )
    },
  }
}
