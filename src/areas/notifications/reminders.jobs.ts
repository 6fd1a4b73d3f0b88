import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { mailSettingsUrlOf } from '../../domain/links.ts'
import { describeNotification } from '../../domain/notifications.ts'
import { dayAfter, remindedDays } from '../../domain/seeds.ts'
import type { Mails } from '../../mail/mails.ts'
import { remindersMail } from '../../mail/workspace-mails.ts'
import type { JobHandlers, JobQueue } from '../../platform/jobs/jobs.port.ts'
import { findReminders, listRemindedToMail, markMailed } from './recipients.repository.ts'
import { insertRemindersOf, lockToRemind } from './reminders.repository.ts'
import type { UnsubscribeLinks } from './unsubscribe-links.ts'

const seedsAtOnce = 100
/** Of one hour. The rest follows an hour later. */
const remindedMax = 1000
/** The most reminders of a mail, and those that it names. */
const remindersMax = 1000
const namedMax = 30

/**
 * Reminds the leads and followers of seeds that are to be decided within three days, in their inbox, and enqueues the mails
 * to them. Once an hour. Each slice of seeds is a transaction, so that a process that stops leaves no seed half done.
 */
export async function remindOfDecisions({
  db,
  clock,
  jobs,
}: {
  db: Database
  clock: Clock
  jobs: JobQueue
}): Promise<void> {
  for (;;) {
    // eslint-disable-next-line no-restricted-syntax -- the clock has no principal
    const count = await db.transaction(async (tx) => {
      const now = clock.now()
      const dates = { from: dayAfter(0, now), to: dayAfter(remindedDays, now) }
      const seedIds = await lockToRemind(tx, { ...dates, limit: seedsAtOnce })
      if (seedIds.length > 0) await insertRemindersOf(tx, seedIds, now)
      return seedIds.length
    })
    if (count < seedsAtOnce) break
  }
  for (const userId of await listRemindedToMail(db, remindedMax))
    await jobs.enqueue(
      db,
      'send_reminders',
      { userId },
      // Another process that enqueues at the same moment replaces the job.
      { requestId: undefined, key: `reminders:${userId}`, delaySeconds: 1 },
    )
}

/** The mail of the reminders of a person, one for all that they have not read. */
export function createRemindersJobs(options: {
  db: Database
  clock: Clock
  mails: Mails
  links: UnsubscribeLinks
  webUrl: string
}): Pick<JobHandlers, 'send_reminders'> {
  const { db, clock, mails, links, webUrl } = options
  return {
    async send_reminders({ userId }, job) {
      const reminded = await findReminders(db, userId, remindersMax)
      // They have read it meanwhile, turned mails off, or the seeds were decided.
      if (!reminded) return
      const { name, email, notifications } = reminded
      await mails.send(
        {
          ...remindersMail({
            items: notifications.slice(0, namedMax).map((notification) => {
              const { textBelowTitle, path } = describeNotification(notification)
              const { seedTitle, workspaceName } = notification
              return {
                text: seedTitle ?? '',
                url: webUrl + path,
                note: `${textBelowTitle}, in ${workspaceName}.`,
              }
            }),
            text: describeNotification(notifications[0]).text,
            count: notifications.length,
            inboxUrl: `${webUrl}/notifications`,
            settingsUrl: mailSettingsUrlOf(webUrl),
          }),
          to: { name, address: email },
          id: `reminders-${job.id}`,
          unsubscribeUrl: links.urlOf(userId),
        },
        job,
        { userId },
      )
      await markMailed(db, { userId, ids: notifications.map(({ id }) => id), now: clock.now() })
    },
  }
}
