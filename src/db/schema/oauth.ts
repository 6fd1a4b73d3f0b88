import { boolean, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.ts'

/**
 * The records of the OAuth server: registered clients, authorization requests that wait for consent, grants, codes and
 * refresh tokens. Secrets are stored and looked up as SHA-256.
 */
export const oauthRecords = pgTable(
  'oauth_records',
  {
    /** The model name of the OAuth server, such as `RefreshToken`. */
    kind: text('kind').notNull(),
    key: text('key').notNull(),
    grantId: text('grant_id'),
    clientId: text('client_id'),
    /** A keyed digest of the address that registered a client. */
    origin: text('origin'),
    payload: jsonb('payload').$type<Record<string, unknown>>().notNull(),
    createdAt: instant('created_at').notNull(),
    /** When a code or a refresh token was first used. */
    consumedAt: instant('consumed_at'),
    expiresAt: instant('expires_at'),
    /** Not used any longer, except by the release before. */
    uses: integer('uses').notNull().default(0),
    /** When somebody last gave a registered client access. */
    grantedAt: instant('granted_at'),
    /** How many exchanges were before a refresh token. Null for other kinds, and for tokens of earlier releases. */
    generation: integer('generation'),
    /** The refresh token that a used one was exchanged for, encrypted under a key derived from the used one. */
    sealedSuccessor: bytea('sealed_successor'),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.key] }),
    index('oauth_records_grant_id_generation_idx').on(table.grantId, table.generation),
    index('oauth_records_expires_at_idx').on(table.expiresAt),
  ],
)

/**
 * What clients with a grant have published at URLs: their metadata documents, and the keys of `jwks_uri`. It is used while
 * they cannot be fetched.
 */
export const oauthDocuments = pgTable(
  'oauth_documents',
  {
    clientId: text('client_id').notNull(),
    kind: text('kind').$type<DocumentKind>().notNull(),
    url: text('url').notNull(),
    /** JSON. */
    content: text('content').notNull(),
    /** When it was last fetched. */
    fetchedAt: instant('fetched_at').notNull(),
    /** Since when its host says that there is no such document. */
    goneSince: instant('gone_since'),
  },
  (table) => [primaryKey({ columns: [table.clientId, table.kind] })],
)

export type DocumentKind = 'metadata' | 'keys'

/** The keys that sign access tokens. A retired key still verifies for the maximum lifetime of a token. */
export const signingKeys = pgTable('signing_keys', {
  /** The `kid` of RFC 7517 §4.5. */
  id: text('id').primaryKey(),
  publicJwk: jsonb('public_jwk').$type<Record<string, unknown>>().notNull(),
  /** The private key, encrypted under APP_SECRET. */
  sealedPrivateJwk: bytea('sealed_private_jwk').notNull(),
  /** Whether the key no longer signs. */
  isRetired: boolean('is_retired').notNull().default(false),
  /** Also null for a key that an earlier release has retired, until the key is first read. */
  retiredAt: instant('retired_at'),
  createdAt: instant('created_at').notNull(),
})
