import type { Database } from '../../../db/client.ts'
import { deletedWorkspaceKeptMs } from '../../../domain/workspaces.ts'
import { workspaceDeletedMail } from '../../../mail/workspace-mails.ts'
import type { JobHandlers } from '../../../platform/jobs/jobs.port.ts'
import type { Mailer } from '../../../platform/mail/mail.port.ts'
import { findFormerOwner } from './ownership.repository.ts'

/** The mail about a deleted workspace. Owners get it whatever their preferences, since it is about what they lose. */
export function createOwnershipJobs(options: {
  db: Database
  mailer: Mailer
  webUrl: string
}): Pick<JobHandlers, 'send_workspace_deleted'> {
  const { db, mailer, webUrl } = options
  return {
    async send_workspace_deleted({ workspaceId, userId, actorName }, { id }) {
      const owner = await findFormerOwner(db, { workspaceId, userId })
      if (!owner) return
      const { workspaceName, slug } = owner
      await mailer.send({
        ...workspaceDeletedMail({
          workspaceName,
          slug,
          actorName,
          keptMs: deletedWorkspaceKeptMs,
          homeUrl: webUrl,
        }),
        to: { name: owner.name, address: owner.email },
        id: `workspace-deleted-${id}`,
      })
    },
  }
}
