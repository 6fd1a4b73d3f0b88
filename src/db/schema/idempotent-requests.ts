import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from '../columns.ts'
import { apiKeys } from './api-keys.ts'

/** The answers to POST requests that carried an `Idempotency-Key`, each sealed under the API key that it was given to. */
export const idempotentRequests = pgTable(
  'idempotent_requests',
  {
    apiKeyId: uuid('api_key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    /** SHA-256 of the header's value. */
    keyHash: bytea('key_hash').notNull(),
    /** SHA-256 of method, path and body: the same key with another request is refused. */
    fingerprint: bytea('fingerprint').notNull(),
    /** Null while the first request is being answered. */
    status: integer('status'),
    contentType: text('content_type'),
    sealedBody: bytea('sealed_body'),
    /** When another attempt may begin, if there is no answer by then. It also tells one attempt from the next. */
    lockedUntil: instant('locked_until').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.apiKeyId, table.keyHash] }),
    index('idempotent_requests_expires_at_idx').on(table.expiresAt),
  ],
)
