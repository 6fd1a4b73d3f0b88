import type { Database } from '../db/client.ts'
import { canonicalizeEmail } from '../kernel/email.ts'
import { createId } from '../kernel/ids.ts'
import { listMails, type MailRecord } from '../mail/mails.repository.ts'
import { testMail } from '../mail/test-mail.ts'
import type { Mailer } from '../platform/mail/mail.port.ts'

/** What operators see and do of mails. */
export function createMailOperations({
  db,
  mailer,
  webUrl,
}: {
  db: Database
  mailer: Mailer
  webUrl: string
}) {
  return {
    /** The mails to an address, or to a user with an id, of the last 30 days, newest first. */
    list: ({
      email,
      ...filter
    }: {
      email?: string
      userId?: string
      limit?: number
    }): Promise<{ items: MailRecord[]; total: number }> =>
      listMails(db, {
        ...filter,
        canonicalEmail: email === undefined ? undefined : canonicalizeEmail(email),
      }),

    /** Sends a mail at once. Throws a `MailError`. */
    async sendTest(address: string): Promise<{ smtpCode: number | null; messageId: string }> {
      const messageId = `test-${createId()}`
      const { smtpCode } = await mailer.send({
        ...testMail(webUrl),
        to: { name: '', address },
        id: messageId,
      })
      return { smtpCode, messageId }
    },
  }
}
