import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { workspaces } from './workspaces.ts'

/**
 * What happened in a workspace: one row for every change, written in the change's own transaction. No operation changes
 * or deletes it, but deleting a person takes their name out of it, and deleting a workspace deletes its rows. People, keys
 * and grants are named without reference: the row outlives them.
 */
export const events = pgTable(
  'events',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    type: text('type').notNull(),
    actorType: text('actor_type', { enum: ['user', 'agent', 'system'] }).notNull(),
    actorUserId: uuid('actor_user_id'),
    actorName: text('actor_name').notNull(),
    grantId: uuid('grant_id'),
    apiKeyId: uuid('api_key_id'),
    source: text('source', { enum: ['web', 'api', 'mcp', 'system'] }).notNull(),
    targetType: text('target_type'),
    targetId: uuid('target_id'),
    /** What happened, in words that a person understands. */
    summary: text('summary').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('events_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    // So that a filter that few events pass does not read all the others.
    index('events_by_type_idx').on(table.workspaceId, table.type, table.createdAt, table.id),
    index('events_by_actor_idx').on(table.workspaceId, table.actorUserId, table.createdAt, table.id),
  ],
)
