import type { Database } from '../../db/client.ts'
import { deletionWaitMs } from '../../domain/accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createToken, hashSecret } from '../../kernel/tokens.ts'
import { accountDeletionMail } from '../../mail/security-mails.ts'
import type { JobHandlers } from '../../platform/jobs/jobs.port.ts'
import type { Mails } from '../../mail/mails.ts'
import { findUserById } from '../../users/users.repository.ts'
import { listDueDeletions, setCancelToken } from './deletion.repository.ts'

/** The mail to people who are leaving. The token of its link is created by the job, so that the queue contains none. */
export function createAccountDeletionJobs(options: {
  db: Database
  clock: Clock
  mails: Mails
  webUrl: string
}): Pick<JobHandlers, 'send_account_deletion'> {
  const { db, clock, mails, webUrl } = options
  return {
    async send_account_deletion({ userId }, job) {
      const user = await findUserById(db, userId)
      const token = createToken()
      const requestedAt = user && (await setCancelToken(db, userId, hashSecret(token)))
      if (!requestedAt) return
      const deletedAt = new Date(requestedAt.getTime() + deletionWaitMs)
      const url = `${webUrl}/sign-in/keep-account/${token}`
      await mails.send(
        {
          ...accountDeletionMail({ name: user.name, url, deletedAt, now: clock.now() }),
          to: { name: user.name, address: user.email },
          id: `account-deletion-${job.id}`,
        },
        job,
        { userId },
      )
    },
  }
}

/** Deletes the people whose deletion was requested seven days ago. Reports those of whom it was refused. */
export async function eraseLeavers(options: {
  db: Database
  clock: Clock
  deletePerson: (userId: string) => Promise<{ isDeleted: boolean }>
  onRefused: (userId: string) => void
}): Promise<void> {
  const { db, clock, deletePerson, onRefused } = options
  for (const userId of await listDueDeletions(db, new Date(clock.now().getTime() - deletionWaitMs)))
    if (!(await deletePerson(userId)).isDeleted) onRefused(userId)
}
