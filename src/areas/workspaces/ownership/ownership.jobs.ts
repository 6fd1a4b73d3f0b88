import type { Database } from '../../../db/client.ts'
import { deletedWorkspaceKeptMs } from '../../../domain/workspaces.ts'
import { workspaceDeletedMail } from '../../../mail/workspace-mails.ts'
import type { JobHandlers } from '../../../platform/jobs/jobs.port.ts'
import type { Mails } from '../../../mail/mails.ts'
import { findFormerOwner } from './ownership.repository.ts'

/** The mail about a deleted workspace. Owners get it whatever their preferences, since it is about what they lose. */
export function createOwnershipJobs(options: {
  db: Database
  mails: Mails
  webUrl: string
}): Pick<JobHandlers, 'send_workspace_deleted'> {
  const { db, mails, webUrl } = options
  return {
    async send_workspace_deleted({ workspaceId, userId, actorName }, job) {
      const owner = await findFormerOwner(db, { workspaceId, userId })
      if (!owner) return
      const { workspaceName, slug } = owner
      await mails.send(
        {
          ...workspaceDeletedMail({
            workspaceName,
            slug,
            actorName,
            keptMs: deletedWorkspaceKeptMs,
            homeUrl: webUrl,
          }),
          to: { name: owner.name, address: owner.email },
          id: `workspace-deleted-${job.id}`,
        },
        job,
        { userId, workspaceId },
      )
    },
  }
}
