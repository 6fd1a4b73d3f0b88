import { bigint, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.ts'
import { userId } from './users.ts'

/** The passkeys of users (WebAuthn Level 3). */
export const passkeys = pgTable(
  'passkeys',
  {
    id: uuid('id').primaryKey(),
    userId: userId(),
    /** The id that the authenticator gave it, in base64url. */
    credentialId: text('credential_id').notNull().unique('passkeys_credential_id_key'),
    /** In COSE (RFC 9052). */
    publicKey: bytea('public_key').notNull(),
    /** The number of uses that the authenticator has reported, or 0 if it does not count. */
    signCount: bigint('sign_count', { mode: 'number' }).notNull(),
    /** How the browser can reach the authenticator, such as `internal` or `usb`. */
    transports: text('transports').array().notNull(),
    name: text('name').notNull(),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [index('passkeys_user_id_idx').on(table.userId)],
)

/** The challenges of passkeys, and the questions of agents to their people, that were answered, as SHA-256, until they expire: each is answered once. */
export const usedChallenges = pgTable(
  'used_challenges',
  {
    challengeHash: bytea('challenge_hash').primaryKey(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('used_challenges_expires_at_idx').on(table.expiresAt)],
)
