import { pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { allowedActions } from '../../domain/workspaces.ts'
import { instant } from './columns.ts'
import { keyOfMembership } from './memberships.ts'

/** What API keys of owners may do once with a workspace (docs/design/workspaces.md#deleted-workspaces). */
export const workspaceAllowances = pgTable(
  'workspace_allowances',
  {
    workspaceId: uuid('workspace_id').notNull(),
    userId: uuid('user_id').notNull(),
    action: text('action', { enum: allowedActions }).notNull(),
    allowedUntil: instant('allowed_until').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.userId, table.action] }),
    keyOfMembership('workspace_allowances_membership_fk', table, table.userId).onDelete('cascade'),
  ],
)
