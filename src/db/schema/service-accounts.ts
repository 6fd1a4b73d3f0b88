import { index, pgTable, primaryKey, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'
import { userId, users } from './users.ts'
import { workspaceId } from './workspaces.ts'

/**
 * The service accounts of workspaces. Each is a user with a membership, whose name and role are there. A deleted one stays
 * with its user, whose name is on what it wrote, until the workspace is erased.
 */
export const serviceAccounts = pgTable(
  'service_accounts',
  {
    workspaceId: workspaceId(),
    id: uuid('id').notNull(),
    userId: userId(),
    /** Null when the maker's account was deleted. */
    createdByUserId: uuid('created_by_user_id').references(() => users.id, { onDelete: 'set null' }),
    createdAt: instant('created_at').notNull(),
    deletedAt: instant('deleted_at'),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.id] }),
    uniqueIndex('service_accounts_user_id_key').on(table.userId),
    index('service_accounts_created_by_idx').on(table.createdByUserId),
  ],
)
