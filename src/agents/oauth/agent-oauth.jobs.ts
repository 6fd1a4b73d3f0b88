import type { Database } from '../../db/client.ts'
import { accessEndedMail } from '../../mail/access-mails.ts'
import type { JobHandlers } from '../../platform/jobs/jobs.port.ts'
import type { Mails } from '../../mail/mails.ts'
import { findGrantForNotice } from './records/grant-records.repository.ts'

/** The mail about a grant that ended because a code or token was used again. */
export function createAgentOAuthJobs(options: {
  db: Database
  mails: Mails
  webUrl: string
}): Pick<JobHandlers, 'send_access_ended'> {
  const { db, mails, webUrl } = options
  return {
    async send_access_ended({ grantId }, job) {
      const grant = await findGrantForNotice(db, grantId)
      if (!grant) return
      const { name, email, clientName, workspaceName, workspaceSlug } = grant
      await mails.send(
        {
          ...accessEndedMail({
            name,
            clientName,
            workspaceName,
            agentsUrl: `${webUrl}/w/${workspaceSlug}/agents`,
          }),
          to: { name, address: email },
          id: `access-ended-${job.id}`,
        },
        job,
        { userId: grant.userId, workspaceId: grant.workspaceId },
      )
    },
  }
}
