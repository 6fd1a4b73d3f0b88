import type { Logger } from 'pino'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { createId } from '../kernel/ids.ts'
import type { Meter } from '../kernel/meter.ts'
import { JobEndsError, type RunningJob } from '../platform/jobs/jobs.port.ts'
import { MailError, type Mailer, type MailMessage } from '../platform/mail/mail.port.ts'
import { hasSentOtherMail, isForSuspended, recordMail } from './mails.repository.ts'

/** How long a record of a mail is kept. */
export const mailRecordKeptMs = 30 * 24 * 60 * 60 * 1000
// In which a server that accepted another mail does not refuse everybody.
const otherAcceptedMs = 60 * 60 * 1000

/** Whom a mail is for, and the workspace that it is about. */
export interface MailSubject {
  userId?: string
  inviteId?: string
  workspaceId?: string
}

/** The mails of jobs. */
export interface Mails {
  /**
   * Sends a mail of a job, but not to a suspended person, unless their account will be deleted. Each attempt is counted,
   * logged and recorded. Throws a `MailError`, after which the job is tried
   * again, and a `JobEndsError` when the mail server says that there is no such address.
   */
  send(message: MailMessage, job: RunningJob, subject: MailSubject): Promise<void>
}

/** Sends the mails of jobs. */
export function createMails(options: {
  db: Database
  clock: Clock
  log: Logger
  meter: Meter
  mailer: Mailer
}): Mails {
  const { db, clock, log, meter, mailer } = options

  async function isRefusedForGood(error: unknown, mail: Parameters<typeof hasSentOtherMail>[1]) {
    if (!(error instanceof MailError) || error.refusal === 'none') return false
    return error.refusal === 'unknown' || hasSentOtherMail(db, mail)
  }

  return {
    async send(message, job, subject) {
      const { number: jobId, name: kind, attempt, requestId } = job
      const { userId = null, inviteId = null } = subject
      const ids = { jobId, kind, messageId: message.id, userId, inviteId }
      const record = async (state: 'sent' | 'retrying' | 'failed', smtpCode: number | null) => {
        const mail = { ...ids, id: createId(), state, smtpCode, attempts: attempt, createdAt: clock.now() }
        // What was sent must not be sent again because it cannot be recorded.
        await recordMail(db, mail).catch((error: unknown) =>
          log.warn({ err: error, jobId }, 'what became of a mail could not be recorded'),
        )
      }
      const recipient = { address: message.to.address, userId }
      const fields = { jobId, kind, messageId: message.id, ...subject, attempt, requestId }
      if (kind !== 'send_account_deletion' && (await isForSuspended(db, recipient))) {
        log.info(fields, 'mail not sent to a suspended person')
        return
      }
      try {
        const { smtpCode } = await mailer.send(message)
        meter.count('mails', 'sent')
        log.info({ ...fields, smtpCode }, 'mail sent')
        await record('sent', smtpCode)
      } catch (error) {
        const smtpCode = error instanceof MailError ? error.smtpCode : null
        const text = error instanceof Error ? error.message : String(error)
        meter.count('mails', 'failed')
        const since = new Date(clock.now().getTime() - otherAcceptedMs)
        const isOver = await isRefusedForGood(error, { ...ids, since })
        log.warn({ ...fields, smtpCode, error: text }, 'mail failed')
        await record(isOver || job.isLastAttempt ? 'failed' : 'retrying', smtpCode)
        if (isOver) throw new JobEndsError(text, { cause: error })
        throw error
      }
    },
  }
}
