import type { Database } from '../../db/client.ts'
import { mailSettingsUrlOf } from '../../domain/links.ts'
import { roleChangedMail } from '../../mail/workspace-mails.ts'
import type { JobHandlers } from '../../platform/jobs/jobs.port.ts'
import type { Mails } from '../../mail/mails.ts'
import type { UnsubscribeLinks } from '../notifications/unsubscribe-links.ts'
import { findNoticeRecipient } from './members.repository.ts'

/** The mails about changes of members. */
export function createMembersJobs(options: {
  db: Database
  mails: Mails
  links: UnsubscribeLinks
  webUrl: string
}): Pick<JobHandlers, 'send_role_changed'> {
  const { db, mails, links, webUrl } = options
  return {
    async send_role_changed({ workspaceId, userId, role, actorName }, job) {
      const recipient = await findNoticeRecipient(db, { workspaceId, userId }, 'roleChanges')
      if (!recipient) return
      const { workspaceName, workspaceSlug } = recipient
      await mails.send(
        {
          ...roleChangedMail({
            workspaceName,
            workspaceUrl: `${webUrl}/w/${workspaceSlug}`,
            actorName,
            role,
            settingsUrl: mailSettingsUrlOf(webUrl),
          }),
          to: { name: recipient.name, address: recipient.email },
          id: `role-changed-${job.id}`,
          unsubscribeUrl: links.urlOf(userId),
        },
        job,
        { userId, workspaceId },
      )
    },
  }
}
