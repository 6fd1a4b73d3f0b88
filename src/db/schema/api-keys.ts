import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from './columns.ts'
import { userId } from './users.ts'

/** The API keys of users. The secret is stored as SHA-256. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid('id').primaryKey(),
    userId: userId(),
    name: text('name').notNull(),
    secretHash: bytea('secret_hash').notNull(),
    tokenPrefix: text('token_prefix').notNull(),
    lastFour: text('last_four').notNull(),
    createdAt: instant('created_at').notNull(),
    /** Not indexed, so that updates stay heap-only. */
    lastUsedAt: instant('last_used_at'),
    revokedAt: instant('revoked_at'),
  },
  (table) => [
    uniqueIndex('api_keys_secret_hash_key').on(table.secretHash),
    index('api_keys_active_by_user_idx')
      .on(table.userId, table.createdAt, table.id)
      .where(sql`${table.revokedAt} is null`),
  ],
)
