import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createToken, hashSecret } from '../../kernel/tokens.ts'
import { inviteAcceptedMail, inviteMail } from '../../mail/workspace-mails.ts'
import type { JobHandlers } from '../../platform/jobs/jobs.port.ts'
import type { Mailer } from '../../platform/mail/mail.port.ts'
import type { UnsubscribeLinks } from '../notifications/unsubscribe-links.ts'
import { findNoticeRecipient } from '../members/members.repository.ts'
import {
  findInviteOrigin,
  findInviteToSend,
  insertInviteToken,
  recordInviteSent,
} from './invites.repository.ts'
import { inviteUrlOf } from '../../domain/links.ts'

/** The mails about invites. */
export function createInvitesJobs(options: {
  db: Database
  clock: Clock
  mailer: Mailer
  links: UnsubscribeLinks
  webUrl: string
}): Pick<JobHandlers, 'send_invite' | 'send_invite_accepted'> {
  const { db, clock, mailer, links, webUrl } = options
  return {
    async send_invite({ inviteId }, { id }) {
      const invite = await findInviteToSend(db, inviteId, clock.now())
      if (!invite) return
      // The token is created now, so that none can be read from the job queue.
      const token = createToken()
      await insertInviteToken(db, { inviteId, tokenHash: hashSecret(token), isMailed: true })
      await mailer.send({
        ...inviteMail({ ...invite, inviteUrl: inviteUrlOf(webUrl, token), now: clock.now() }),
        to: { name: '', address: invite.email },
        id: `invite-${id}`,
      })
      await recordInviteSent(db, inviteId, clock.now())
    },

    async send_invite_accepted({ inviteId, memberName }, { id }) {
      const origin = await findInviteOrigin(db, inviteId)
      const recipient = origin && (await findNoticeRecipient(db, origin.workspaceId, origin.invitedByUserId))
      if (!recipient) return
      const { workspaceName, workspaceSlug } = recipient
      await mailer.send({
        ...inviteAcceptedMail({ workspaceName, workspaceUrl: `${webUrl}/w/${workspaceSlug}`, memberName }),
        to: { name: recipient.name, address: recipient.email },
        id: `invite-accepted-${id}`,
        unsubscribeUrl: links.urlOf(origin.invitedByUserId),
      })
    },
  }
}
