import { and, eq, sql, type Column } from 'drizzle-orm'
import { check, index, pgTable, primaryKey, text, type AnyPgColumn } from 'drizzle-orm/pg-core'
import { roles, type Role } from '../../domain/roles.ts'
import { instant, keyInWorkspace } from './columns.ts'
import { userId } from './users.ts'
import { workspaceId } from './workspaces.ts'

/** The members of workspaces, with their roles. */
export const memberships = pgTable(
  'memberships',
  {
    workspaceId: workspaceId(),
    userId: userId(),
    role: text('role', { enum: roles }).$type<Role>().notNull(),
    joinedAt: instant('joined_at').notNull(),
    /** The last request of the member in the workspace, with a precision of one minute. */
    lastUsedAt: instant('last_used_at').notNull(),
    /** The newest event of the member that everybody may see, with a precision of one minute; null if there is none. */
    lastActivityAt: instant('last_activity_at'),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.userId] }),
    // Without the times of use and activity, so that their updates stay heap-only. The few rows of a user are cheap to sort.
    index('memberships_user_id_idx').on(table.userId),
    index('memberships_by_workspace_idx').on(table.workspaceId, table.joinedAt, table.userId),
    check('memberships_role_check', sql`${table.role} in ('owner', 'admin', 'member', 'viewer')`),
  ],
)

/** A foreign key to the membership of a person in the workspace of the row. */
export const keyOfMembership = (name: string, row: { workspaceId: AnyPgColumn }, userId: AnyPgColumn) =>
  keyInWorkspace(name, row, userId, { workspaceId: memberships.workspaceId, id: memberships.userId })

/** Joins the membership of a person in the workspace of a row. */
export const isMembershipOf = (row: { workspaceId: Column }, userId: Column) =>
  and(eq(memberships.workspaceId, row.workspaceId), eq(memberships.userId, userId))
