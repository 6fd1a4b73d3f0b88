import { sql } from 'drizzle-orm'
import { boolean, check, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.ts'
import { sessions } from './accounts.ts'
import { users } from './users.ts'

const sessionId = () => uuid('session_id').references(() => sessions.id, { onDelete: 'cascade' })

/**
 * What a redirect leaves for the page that it leads to: a refused form, or a secret that is shown once. Encrypted under
 * a key derived from the cookie of the session. A form that was sent after its session had ended belongs to the user.
 */
export const flashes = pgTable(
  'flashes',
  {
    /** SHA-256 of the id in the URL. */
    idHash: bytea('id_hash').primaryKey(),
    sessionId: sessionId(),
    /** Null for what belongs to a session. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    sealed: bytea('sealed').notNull(),
    /** Whether reading it deletes it. */
    isOnce: boolean('is_once').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    check('flashes_owner_check', sql`num_nonnulls(${table.sessionId}, ${table.userId}) = 1`),
    index('flashes_session_id_idx').on(table.sessionId),
    index('flashes_user_id_idx').on(table.userId),
    index('flashes_expires_at_idx').on(table.expiresAt),
  ],
)

/** Forms that were sent, so that each takes effect once, however often it is sent. */
export const sentForms = pgTable(
  'sent_forms',
  {
    /** SHA-256 of the form with its fields. */
    formHash: bytea('form_hash').primaryKey(),
    sessionId: sessionId().notNull(),
    /** Where the form led. Null while it is being handled. */
    location: text('location'),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('sent_forms_session_id_idx').on(table.sessionId),
    index('sent_forms_expires_at_idx').on(table.expiresAt),
  ],
)
