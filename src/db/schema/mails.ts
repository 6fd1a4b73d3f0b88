import { index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'
import { invites } from './invites.ts'
import { users } from './users.ts'

/**
 * What became of each mail, for operators, for 30 days: no address and no text. The foreign keys delete it with the person or
 * the invite that it was for.
 */
export const mails = pgTable(
  'mails',
  {
    id: uuid('id').primaryKey(),
    /** The number of the job in the queue. */
    jobId: text('job_id').notNull(),
    /** The name of the job, such as `send_invite`. */
    kind: text('kind').notNull(),
    /** The local part of the `Message-ID`, the same in every attempt. */
    messageId: text('message_id').notNull(),
    /** Whom it is for; neither for an address without an account. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    inviteId: uuid('invite_id').references(() => invites.id, { onDelete: 'cascade' }),
    /** `retrying` waits for its next attempt. */
    state: text('state', { enum: ['sent', 'retrying', 'failed'] }).notNull(),
    /** The code of the last answer of the mail server; null without an answer, or without a mail server. */
    smtpCode: integer('smtp_code'),
    attempts: integer('attempts').notNull(),
    /** When the first attempt was made, and the last. */
    createdAt: instant('created_at').notNull(),
    attemptedAt: instant('attempted_at').notNull(),
  },
  (table) => [
    uniqueIndex('mails_message_id_key').on(table.messageId),
    index('mails_user_id_idx').on(table.userId),
    index('mails_invite_id_idx').on(table.inviteId),
    index('mails_attempted_at_idx').on(table.attemptedAt),
  ],
)
