import type { Command } from 'commander'
import { parseEmail } from '../kernel/email.ts'
import { errors } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { MailRecord } from '../mail/mails.repository.ts'
import { MailError } from '../platform/mail/mail.port.ts'
import {
  addCommand,
  addLimit,
  CommandError,
  toLimit,
  type LimitOptions,
  type OutputOptions,
} from './command.ts'
import { formatTime, print, printList, toVisible, type Column } from './output.ts'
import { withServices } from './with-services.ts'

const columns: Column<MailRecord>[] = [
  { title: 'ATTEMPTED AT (UTC)', valueOf: ({ attemptedAt }) => formatTime(attemptedAt) },
  { title: 'KIND', valueOf: ({ kind }) => kind },
  { title: 'STATE', valueOf: ({ state }) => state },
  { title: 'ATTEMPTS', valueOf: ({ attempts }) => attempts },
  { title: 'SMTP', valueOf: ({ smtpCode }) => smtpCode },
  { title: 'JOB', valueOf: ({ jobId }) => jobId },
  {
    title: 'FOR',
    valueOf: ({ userId, inviteId }) => (userId === null ? `invite ${inviteId}` : `user ${userId}`),
  },
  { title: 'MESSAGE-ID', valueOf: ({ messageId }) => messageId },
]

export function addMailCommands(program: Command): void {
  addLimit(
    addCommand(program, {
      name: 'list-mails',
      summary: 'List what became of the mails to a person in the last 30 days',
      details:
        'Those to the account with the address, and of invites to it; those attempted last come first. `sent` means that the ' +
        'mail server accepted it, `retrying` that another attempt follows. A mail that no attempt was made at is in list-jobs.',
      examples: ['list-mails --email linus@example.com', 'list-mails --email linus@example.com --json'],
    }).requiredOption('--email <address>', 'Email address, or the id of a user'),
  ).action(async (options: OutputOptions & LimitOptions & { email: string }) => {
    const { email } = options
    if (!isId(email) && parseEmail(email) === undefined) throw errors.emailInvalid({ field: 'email' })
    const list = await withServices(({ mailOperations }) =>
      mailOperations.list({ ...(isId(email) ? { userId: email } : { email }), ...toLimit(options) }),
    )
    printList(options, { ...list, noun: 'mail' }, columns)
  })

  addCommand(program, {
    name: 'send-test-mail',
    summary: 'Send a mail now, to see whether the mail server accepts it',
    details:
      'Prints the answer of the mail server at SMTP_URL. Without SMTP_URL the mail is written to a file.',
    examples: ['send-test-mail --to grace@example.com'],
  })
    .requiredOption('--to <address>', 'Email address')
    .action(async (options: OutputOptions & { to: string }) => {
      const to = parseEmail(options.to)
      if (to === undefined) throw errors.emailInvalid({ field: 'email' })
      const { smtpCode, messageId } = await withServices(({ mailOperations }) =>
        mailOperations.sendTest(to).catch(refuse),
      )
      print(options, { ok: true, to, smtpCode, messageId }, [
        toVisible(
          smtpCode === null
            ? `Wrote a mail to ${to} to a file, since SMTP_URL is not set.`
            : `The mail server accepted a mail to ${to} with ${smtpCode}. Its Message-ID begins with ${messageId}.`,
        ),
      ])
    })
}

function refuse(error: unknown): never {
  if (error instanceof MailError)
    throw new CommandError('refused', `The mail was not accepted: ${error.message}`, { cause: error })
  throw error
}
