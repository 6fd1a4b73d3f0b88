import { sql, type SQL } from 'drizzle-orm'
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { grantEventTypes, inviteEventTypes } from '../../kernel/events.ts'
import { instant } from '../columns.ts'
import { workspaces } from './workspaces.ts'

const restrictedTypes = [...inviteEventTypes, ...grantEventTypes]

/** A list of known words, written out: PostgreSQL compares the text of a query with that of a partial index. */
export function literals(words: readonly string[]): SQL {
  return sql.raw(`(${words.map((word) => `'${word}'`).join(', ')})`)
}

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
    // The same for those who may not see all: what they may not see costs them nothing either.
    index('events_for_all_idx')
      .on(table.workspaceId, table.createdAt, table.id)
      .where(sql`${table.type} not in ${literals(restrictedTypes)}`),
    index('events_for_all_by_actor_idx')
      .on(table.workspaceId, table.actorUserId, table.createdAt, table.id)
      .where(sql`${table.type} not in ${literals(restrictedTypes)}`),
    index('events_by_grant_idx')
      .on(table.targetId, table.createdAt, table.id)
      .where(sql`${table.type} in ${literals(grantEventTypes)}`),
  ],
)
