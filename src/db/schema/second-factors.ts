import { index, integer, pgTable, primaryKey, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.ts'
import { userId, users } from './users.ts'

/** The authenticator apps of users: the second step of a sign-in. */
export const authenticatorApps = pgTable('authenticator_apps', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  /** The secret of RFC 6238, encrypted under APP_SECRET. */
  sealedSecret: bytea('sealed_secret').notNull(),
  /** The time step of the last code that was used. A code counts once (RFC 6238 §5.2). */
  lastStep: integer('last_step').notNull().default(0),
  createdAt: instant('created_at').notNull(),
  /** Null until a code was entered. Before that the app is not asked for. */
  confirmedAt: instant('confirmed_at'),
})

/** The recovery codes of users, as SHA-256. Using one deletes it. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    userId: userId(),
    codeHash: bytea('code_hash').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
)

/** Sign-ins that wait for their second step. The token of the cookie is stored as SHA-256. */
export const pendingSignIns = pgTable(
  'pending_sign_ins',
  {
    tokenHash: bytea('token_hash').primaryKey(),
    userId: userId(),
    /** The SHA-256 of the cookie that identifies the browser. */
    browserHash: bytea('browser_hash').notNull(),
    attempts: integer('attempts').notNull().default(0),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('pending_sign_ins_user_id_idx').on(table.userId),
    index('pending_sign_ins_expires_at_idx').on(table.expiresAt),
  ],
)
