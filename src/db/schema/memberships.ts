import { sql } from 'drizzle-orm'
import { check, index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { roles, type Role } from '../../kernel/roles.ts'
import { instant } from '../columns.ts'
import { users } from './users.ts'
import { workspaces } from './workspaces.ts'

/** Who is in which workspace, as what. */
export const memberships = pgTable(
  'memberships',
  {
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text('role', { enum: roles }).$type<Role>().notNull(),
    joinedAt: instant('joined_at').notNull(),
    /** When the person last did anything in the workspace, to the minute. */
    lastUsedAt: instant('last_used_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.userId] }),
    // Without lastUsedAt, so that writing that stays a heap-only update: the few rows of a person are sorted in no time.
    index('memberships_user_id_idx').on(table.userId),
    index('memberships_by_workspace_idx').on(table.workspaceId, table.joinedAt, table.userId),
    check('memberships_role_check', sql`${table.role} in ('owner', 'admin', 'member', 'viewer')`),
  ],
)
