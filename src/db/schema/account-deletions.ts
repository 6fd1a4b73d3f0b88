import { sql, type Column, type SQL } from 'drizzle-orm'
import { index, pgTable, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.ts'
import { subquery } from './subquery.ts'
import { users } from './users.ts'

/** The people who are leaving the service, or may by an API key (docs/design/accounts.md#leaving). */
export const accountDeletions = pgTable(
  'leavings',
  {
    userId: uuid('user_id')
      .primaryKey()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** Until when an API key may export or delete the account; null if the person has not allowed it. */
    allowedUntil: instant('allowed_until'),
    /** When the deletion was requested: nobody can sign in to the account since. Null if it was not. */
    requestedAt: instant('requested_at'),
    /** The token of the link that cancels the deletion, as SHA-256. Null until the mail is sent. */
    tokenHash: bytea('token_hash').unique('leavings_token_hash_key'),
  },
  (table) => [index('leavings_requested_at_idx').on(table.requestedAt)],
)

/** Whether a person is not about to be deleted. Those who are do not count as owners of workspaces. */
export const isStaying = (userId: Column | SQL) =>
  subquery(sql`not exists (
  select from ${accountDeletions} as leaving where leaving.user_id = ${userId} and leaving.requested_at is not null
)`)
