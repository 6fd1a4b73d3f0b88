import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { apiKeyExpiresMail, rotatedKeyWorksMail } from '../../mail/access-mails.ts'
import type { JobHandlers, JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { Mails } from '../../mail/mails.ts'
import { findExpiringApiKey, listDueExpiryNotices, setExpiryNoticed } from './apiKeys.repository.ts'

// Of one hour. The rest follows an hour later.
const noticesMax = 1000

/** The mails to the owners of keys: of one that expires within a week, and of a rotated one that works on. */
export function createApiKeysJobs(options: {
  db: Database
  clock: Clock
  mails: Mails
  webUrl: string
}): Pick<JobHandlers, 'send_api_key_expires' | 'send_rotated_key_works'> {
  const { db, clock, mails, webUrl } = options
  const keysUrl = `${webUrl}/settings/security/api-keys`

  /** A key with an end that works now: whom to write to, and what mails say of it. */
  async function findKey(apiKeyId: string) {
    const now = clock.now()
    const key = await findExpiringApiKey(db, apiKeyId, now)
    if (!key?.expiresAt) return undefined
    const { name: keyName, lastFour, owner, expiresAt, expiryNoticeAt } = key
    return {
      userId: owner.id,
      to: { name: owner.name, address: owner.email },
      isDue: expiryNoticeAt !== null && expiryNoticeAt <= now,
      shown: { name: owner.name, keyName, lastFour, expiresAt, now },
    }
  }

  return {
    async send_api_key_expires({ apiKeyId }, job) {
      const key = await findKey(apiKeyId)
      // It was revoked, rotated or given another expiry meanwhile, or its owner was told before.
      if (!key?.isDue) return
      const content = apiKeyExpiresMail({ ...key.shown, keyUrl: `${keysUrl}/${apiKeyId}` })
      await mails.send({ ...content, to: key.to, id: `api-key-expires-${job.id}` }, job, {
        userId: key.userId,
      })
      await setExpiryNoticed(db, apiKeyId, key.shown.expiresAt)
    },

    async send_rotated_key_works({ apiKeyId }, job) {
      const key = await findKey(apiKeyId)
      // It was revoked, or ended, meanwhile.
      if (!key) return
      const content = rotatedKeyWorksMail({ ...key.shown, keysUrl })
      await mails.send({ ...content, to: key.to, id: `rotated-key-works-${job.id}` }, job, {
        userId: key.userId,
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
    const options = { requestId: undefined, key: `api-key-expires:${apiKeyId}` }
    await jobs.enqueue(db, 'send_api_key_expires', { apiKeyId }, options)
  }
}
