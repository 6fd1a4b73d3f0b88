import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytea, instant } from '../columns.ts'
import { users } from './users.ts'

/** A user's API keys. The key itself is never stored, only its SHA-256. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text('name').notNull(),
    secretHash: bytea('secret_hash').notNull(),
    tokenPrefix: text('token_prefix').notNull(),
    lastFour: text('last_four').notNull(),
    createdAt: instant('created_at').notNull(),
    /** In no index, so that writing it stays a heap-only update. */
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
