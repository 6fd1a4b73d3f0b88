import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.ts'
import { apiKeys } from './api-keys.ts'

/** The stored responses to POST requests with an `Idempotency-Key`, encrypted under a key derived from the API key. */
export const idempotentRequests = pgTable(
  'idempotent_requests',
  {
    apiKeyId: uuid('api_key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    /** SHA-256 of the header's value. */
    keyHash: bytea('key_hash').notNull(),
    /** SHA-256 of method, URL and body, by which reuse of the key for another request is detected. */
    fingerprint: bytea('fingerprint').notNull(),
    /** Null while an attempt is running. */
    status: integer('status'),
    contentType: text('content_type'),
    sealedBody: bytea('sealed_body'),
    /** When another attempt may begin, if no response is stored. It also identifies the attempt. */
    lockedUntil: instant('locked_until').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.apiKeyId, table.keyHash] }),
    index('idempotent_requests_expires_at_idx').on(table.expiresAt),
  ],
)
