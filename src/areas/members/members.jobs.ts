import type { Database } from '../../db/client.ts'
import { roleChangedMail } from '../../mail/workspace-mails.ts'
import type { JobHandlers } from '../../platform/jobs/jobs.port.ts'
import type { Mailer } from '../../platform/mail/mail.port.ts'
import type { UnsubscribeLinks } from '../notifications/unsubscribe-links.ts'
import { findNoticeRecipient } from './members.repository.ts'

/** The mails about changes of members. */
export function createMembersJobs(options: {
  db: Database
  mailer: Mailer
  links: UnsubscribeLinks
  webUrl: string
}): Pick<JobHandlers, 'send_role_changed'> {
  const { db, mailer, links, webUrl } = options
  return {
    async send_role_changed({ workspaceId, userId, role, actorName }, { id }) {
      const recipient = await findNoticeRecipient(db, workspaceId, userId)
      if (!recipient) return
      const { workspaceName, workspaceSlug } = recipient
      await mailer.send({
        ...roleChangedMail({ workspaceName, workspaceUrl: `${webUrl}/w/${workspaceSlug}`, actorName, role }),
        to: { name: recipient.name, address: recipient.email },
        id: `role-changed-${id}`,
        unsubscribeUrl: links.urlOf(userId),
      })
    },
  }
}
