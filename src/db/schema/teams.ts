import { sql } from 'drizzle-orm'
import { index, pgTable, primaryKey, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, keyInWorkspace } from './columns.ts'
import { keyOfMembership } from './memberships.ts'
import { workspaceId } from './workspaces.ts'

/** The teams of workspaces. */
export const teams = pgTable(
  'teams',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    name: text('name').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    unique('teams_of_workspace_key').on(table.workspaceId, table.id),
    uniqueIndex('teams_name_key').on(table.workspaceId, sql`lower(${table.name})`),
    index('teams_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
  ],
)

/** The members of teams. The foreign key to the membership deletes them when it ends. */
export const teamMembers = pgTable(
  'team_members',
  {
    teamId: uuid('team_id').notNull(),
    userId: uuid('user_id').notNull(),
    workspaceId: uuid('workspace_id').notNull(),
    addedAt: instant('added_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.teamId, table.userId] }),
    keyInWorkspace('team_members_team_fk', table, table.teamId, teams).onDelete('cascade'),
    keyOfMembership('team_members_membership_fk', table, table.userId).onDelete('cascade'),
    index('team_members_membership_idx').on(table.workspaceId, table.userId),
    index('team_members_by_team_idx').on(table.teamId, table.addedAt, table.userId),
  ],
)
