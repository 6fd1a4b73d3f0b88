import { boolean, index, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { bytea, instant } from '../columns.ts'

/**
 * What the OAuth server keeps: registered clients, authorization requests that wait for consent, grants, codes and
 * refresh tokens. Values that are secrets are stored, and found, by their SHA-256.
 */
export const oauthRecords = pgTable(
  'oauth_records',
  {
    /** The server's name for what it is, such as `RefreshToken`. */
    kind: text('kind').notNull(),
    key: text('key').notNull(),
    grantId: text('grant_id'),
    clientId: text('client_id'),
    /** A keyed digest of the address that registered a client. */
    origin: text('origin'),
    payload: jsonb('payload').$type<Record<string, unknown>>().notNull(),
    createdAt: instant('created_at').notNull(),
    /** When a code or a refresh token was used. */
    consumedAt: instant('consumed_at'),
    expiresAt: instant('expires_at'),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.key] }),
    index('oauth_records_grant_id_idx').on(table.grantId),
    index('oauth_records_expires_at_idx').on(table.expiresAt),
  ],
)

/** The keys that agents' access tokens are signed with. A retired one verifies for as long as a token of it may last. */
export const signingKeys = pgTable('signing_keys', {
  /** The `kid` of RFC 7517 §4.5. */
  id: text('id').primaryKey(),
  publicJwk: jsonb('public_jwk').$type<Record<string, unknown>>().notNull(),
  /** The private key, sealed under APP_SECRET. */
  sealedPrivateJwk: bytea('sealed_private_jwk').notNull(),
  /** Whether tokens are no longer signed with it. */
  isRetired: boolean('is_retired').notNull().default(false),
  /** Since when. Null also for a key that an earlier release has retired, until it is first seen. */
  retiredAt: instant('retired_at'),
  createdAt: instant('created_at').notNull(),
})
