import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { grantEndNoticedMs } from '../../domain/agent.ts'
import { describeNotification } from '../../domain/notifications.ts'
import { accessEndsMail } from '../../mail/access-mails.ts'
import { digestMail, mentionMail } from '../../mail/workspace-mails.ts'
import type { JobHandlers, JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { Mailer } from '../../platform/mail/mail.port.ts'
import { notifyMembers } from './notify.repository.ts'
import {
  findDigest,
  findEndingGrant,
  listDueDigests,
  listEndingGrants,
  listMentioned,
  markMailed,
  recordDigest,
  settleUnmailed,
} from './recipients.repository.ts'
import type { UnsubscribeLinks } from './unsubscribe-links.ts'

const minuteMs = 60 * 1000
// Less than a day, since the hourly job does not run at the same second: otherwise a digest would be an hour later each day.
const digestEveryMs = 23.5 * 60 * minuteMs
// Who is at work reads it there first.
const digestAfterMs = 60 * minuteMs
// Of one hour. The rest follows an hour later.
const digestsMax = 1000
const endingGrantsMax = 1000
/** The most notifications that a digest marks as mailed. */
const digestLengthMax = 1000
/** The most of them that it names. */
const namedMax = 30

/** The mails about notifications. */
export function createNotificationsJobs(options: {
  db: Database
  clock: Clock
  mailer: Mailer
  links: UnsubscribeLinks
  webUrl: string
}): Pick<JobHandlers, 'send_mentions' | 'send_digest' | 'send_access_ends'> {
  const { db, clock, mailer, links, webUrl } = options
  return {
    async send_mentions({ commentId, noticeId }) {
      const failures: unknown[] = []
      for (const { userId, name, email, notification } of await listMentioned(db, { commentId, noticeId })) {
        const { text, path } = describeNotification(notification)
        const { workspaceName } = notification
        const unsubscribeUrl = links.urlOf(userId)
        try {
          await mailer.send({
            ...mentionMail({ text, workspaceName, url: webUrl + path }),
            to: { name, address: email },
            id: `mention-${noticeId}-${userId}`,
            unsubscribeUrl,
          })
        } catch (error) {
          // The others are mailed all the same; the job is tried again for this one.
          failures.push(error)
          continue
        }
        await markMailed(db, { userId, id: noticeId, now: clock.now() })
      }
      if (failures.length > 0) throw new AggregateError(failures, 'mentions could not be mailed')
    },

    async send_digest({ userId }, { id }) {
      const now = clock.now()
      const before = new Date(now.getTime() - digestEveryMs)
      const digest = await findDigest(db, userId, { before, limit: digestLengthMax })
      // All was read meanwhile, mails were turned off, or another digest was sent.
      if (!digest) return
      const { name, email, notifications } = digest
      const items = notifications.slice(0, namedMax).map((notification) => {
        const { text, path } = describeNotification(notification)
        return { text, url: webUrl + path, workspaceName: notification.workspaceName }
      })
      const unsubscribeUrl = links.urlOf(userId)
      const inboxUrl = `${webUrl}/notifications`
      await mailer.send({
        ...digestMail({ items, count: notifications.length, inboxUrl }),
        to: { name, address: email },
        id: `digest-${id}`,
        unsubscribeUrl,
      })
      const ids = notifications.map((notification) => notification.id)
      await recordDigest(db, userId, { ids, now })
    },

    async send_access_ends({ grantId, expiresAt: time }) {
      const [now, expiresAt] = [clock.now(), new Date(time)]
      // It was revoked or prolonged meanwhile, or mails are off.
      const grant = await findEndingGrant(db, { grantId, expiresAt, now })
      if (!grant) return
      const { userId, name, email, clientName, workspaceName, workspaceSlug } = grant
      const agentUrl = `${webUrl}/w/${workspaceSlug}/agents/${grantId}`
      await mailer.send({
        ...accessEndsMail({ clientName, workspaceName, expiresAt, now, agentUrl }),
        to: { name, address: email },
        id: `access-ends-${grantId}-${expiresAt.getTime()}`,
        unsubscribeUrl: links.urlOf(userId),
      })
    },
  }
}

/** Enqueues the digests that are due. Once an hour; each person gets one a day at most. */
export async function enqueueDigests({
  db,
  clock,
  jobs,
}: {
  db: Database
  clock: Clock
  jobs: JobQueue
}): Promise<void> {
  const now = clock.now()
  const ago = (ms: number) => new Date(now.getTime() - ms)
  await settleUnmailed(db, { before: ago(digestAfterMs), now })
  const due = { until: ago(digestAfterMs), before: ago(digestEveryMs), limit: digestsMax }
  for (const userId of await listDueDigests(db, due)) {
    // The key of the job: while the mail cannot be sent, there is one job for it.
    await jobs.enqueue(db, 'send_digest', { userId }, { key: `digest:${userId}` })
  }
}

/**
 * Tells people that the access of an agent of theirs ends within two weeks, in their inbox and by a mail of its own, once
 * for each end. Of longer access only. Once an hour.
 */
export async function notifyOfEndingGrants({
  db,
  clock,
  jobs,
}: {
  db: Database
  clock: Clock
  jobs: JobQueue
}): Promise<void> {
  const at = clock.now()
  const times = { now: at, noticedMs: grantEndNoticedMs }
  for (const grant of await listEndingGrants(db, { ...times, limit: endingGrantsMax })) {
    const { id, workspaceId, userId, clientName, expiresAt } = grant
    const endsAt = expiresAt.toISOString()
    const data = { grantId: id, clientName, reason: 'ends_soon', endsAt } as const
    // First, so that the mail is not lost if the process stops in between. There is one job for each end.
    const options = { key: `access-ends:${id}:${endsAt}` }
    await jobs.enqueue(db, 'send_access_ends', { grantId: id, expiresAt: endsAt }, options)
    await notifyMembers(db, { kind: 'agent', data, workspaceId, actor: null, at, hasOwnMail: true }, [userId])
  }
}
