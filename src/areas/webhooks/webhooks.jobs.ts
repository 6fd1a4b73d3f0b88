import type { Database } from '../../db/client.ts'
import { hostOf } from '../../domain/webhooks.ts'
import { webhookDisabledMail } from '../../mail/access-mails.ts'
import type { JobHandlers } from '../../platform/jobs/jobs.port.ts'
import type { Mails } from '../../mail/mails.ts'
import { findDisabledWebhook, removeWebhook } from './webhooks.repository.ts'

/** The mails about disabled webhooks, and removing deleted ones. */
export function createWebhooksJobs(options: {
  db: Database
  mails: Mails
  webUrl: string
}): Pick<JobHandlers, 'send_webhook_disabled' | 'remove_webhook'> {
  const { db, mails, webUrl } = options
  return {
    async send_webhook_disabled({ webhookId, userId }, job) {
      const found = await findDisabledWebhook(db, webhookId, userId)
      if (!found?.disabledReason) return
      const { disabledReason, email, name, url, workspaceName, workspaceSlug } = found
      await mails.send(
        {
          ...webhookDisabledMail({
            name,
            host: hostOf(url),
            reason: disabledReason,
            workspaceName,
            webhookUrl: `${webUrl}/w/${workspaceSlug}/settings/webhooks/${webhookId}`,
          }),
          to: { name, address: email },
          id: `webhook-disabled-${job.id}`,
        },
        job,
        { userId, workspaceId: found.workspaceId },
      )
    },

    remove_webhook: ({ webhookId }) => removeWebhook(db, webhookId),
  }
}
