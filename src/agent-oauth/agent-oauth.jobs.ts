import type { Database } from '../db/client.ts'
import { accessEndedMail } from '../mail/access-mails.ts'
import type { JobHandlers } from '../platform/jobs/jobs.port.ts'
import type { Mailer } from '../platform/mail/mail.port.ts'
import { findGrantForNotice } from './records/grants.repository.ts'

/** The mail about a grant that ended because a code or token was used again. */
export function createAgentOAuthJobs(options: {
  db: Database
  mailer: Mailer
  webUrl: string
}): Pick<JobHandlers, 'send_access_ended'> {
  const { db, mailer, webUrl } = options
  return {
    async send_access_ended({ grantId }, { id }) {
      const grant = await findGrantForNotice(db, grantId)
      if (!grant) return
      const { name, email, clientName, workspaceName, workspaceSlug } = grant
      await mailer.send({
        ...accessEndedMail({
          name,
          clientName,
          workspaceName,
          agentsUrl: `${webUrl}/w/${workspaceSlug}/agents`,
        }),
        to: { name, address: email },
        id: `access-ended-${id}`,
      })
    },
  }
}
