import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { keyAccesses } from '../../domain/key-restrictions.ts'
import { roles, type Role } from '../../domain/roles.ts'
import { bytea, instant } from './columns.ts'
import { userId, users } from './users.ts'

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
    /** When the key stops working; null for never. An expired key is never made to work again. */
    expiresAt: instant('expires_at'),
    access: text('access', { enum: keyAccesses }).notNull().default('full'),
    /**
     * The only workspaces that the key reaches; null for all of its owner. An array, not a table, so that it is read with
     * the key. The ids of workspaces that were deleted or left stay in it, and reach nothing.
     */
    workspaceIds: uuid('workspace_ids').array(),
    /** The highest role that the key acts with; null for that of its owner. */
    maxRole: text('max_role', { enum: roles }).$type<Role>(),
    /** When another key took the place of this one, which expires soon. */
    rotatedAt: instant('rotated_at'),
    /** Who was shown the secret of a key of a service account; null for a key of a person, who was shown it. */
    shownToUserId: uuid('shown_to_user_id').references(() => users.id, { onDelete: 'set null' }),
    /** When the owner is to be told that the key expires; null when there is nothing to tell, or it was told. */
    expiryNoticeAt: instant('expiry_notice_at'),
  },
  (table) => [
    uniqueIndex('api_keys_secret_hash_key').on(table.secretHash),
    index('api_keys_active_by_user_idx')
      .on(table.userId, table.createdAt, table.id)
      .where(sql`${table.revokedAt} is null`),
    index('api_keys_shown_to_idx')
      .on(table.shownToUserId)
      .where(sql`${table.shownToUserId} is not null`),
    index('api_keys_expiry_notice_idx')
      .on(table.expiryNoticeAt)
      .where(sql`${table.expiryNoticeAt} is not null and ${table.revokedAt} is null`),
  ],
)
