import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { apiKeyExpiresMail, rotatedKeyWorksMail } from '../../mail/access-mails.ts'
import type { JobHandlers, JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { Mailer } from '../../platform/mail/mail.port.ts'
import {
  findActiveApiKeyWithOwner,
  findExpiringApiKey,
  listDueExpiryNotices,
  setExpiryNoticed,
} from './apiKeys.repository.ts'

// Of one hour. The rest follows an hour later.
const noticesMax = 1000

/** The mails to the owners of keys: of one that expires within a week, and of a rotated one that works on. */
export function createApiKeysJobs(options: {
  db: Database
  clock: Clock
  mailer: Mailer
  webUrl: string
}): Pick<JobHandlers, 'send_api_key_expires' | 'send_rotated_key_works'> {
  const { db, clock, mailer, webUrl } = options
  return {
    async send_api_key_expires({ apiKeyId }, { id }) {
      const key = await findExpiringApiKey(db, apiKeyId, clock.now())
      // It was revoked, rotated or given another expiry meanwhile, or its owner was told before.
      if (!key?.expiresAt) return
      const { owner, expiresAt } = key
      await mailer.send({
        ...apiKeyExpiresMail({
          name: owner.name,
          keyName: key.name,
          lastFour: key.lastFour,
          expiresAt,
          now: clock.now(),
          keyUrl: `${webUrl}/settings/security/api-keys/${apiKeyId}`,
        }),
        to: { name: owner.name, address: owner.email },
        id: `api-key-expires-${id}`,
      })
      await setExpiryNoticed(db, apiKeyId, expiresAt)
    },

    async send_rotated_key_works({ apiKeyId }, { id }) {
      const key = await findActiveApiKeyWithOwner(db, apiKeyId, clock.now())
      // It was revoked, or ended, meanwhile.
      if (!key?.expiresAt) return
      const { owner, expiresAt } = key
      await mailer.send({
        ...rotatedKeyWorksMail({
          name: owner.name,
          keyName: key.name,
          lastFour: key.lastFour,
          expiresAt,
          now: clock.now(),
          keysUrl: `${webUrl}/settings/security/api-keys`,
        }),
        to: { name: owner.name, address: owner.email },
        id: `rotated-key-works-${id}`,
      })
    },
  }
}

/**
 * Enqueues the mails to the owners of keys that expire within a week. Once an hour, and not with each key: jobs that wait
 * for months would slow down the queue.
 */
export async function enqueueExpiryNotices({
  db,
  clock,
  jobs,
}: {
  db: Database
  clock: Clock
  jobs: JobQueue
}): Promise<void> {
  for (const apiKeyId of await listDueExpiryNotices(db, { now: clock.now(), limit: noticesMax })) {
    // The key of the job: while the mail cannot be sent, there is one job for it.
    const options = { key: `api-key-expires:${apiKeyId}` }
    await jobs.enqueue(db, 'send_api_key_expires', { apiKeyId }, options)
  }
}
