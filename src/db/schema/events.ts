import { sql, type Column, type SQL } from 'drizzle-orm'
import { bigint, index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { eventReaders, type EventReaders } from '../../domain/events/kind.ts'
import { instant } from './columns.ts'
import { subquery } from './subquery.ts'
import { workspaceId, workspaces } from './workspaces.ts'

/** Whether an event is for these readers. A literal, since PostgreSQL uses a partial index only if the query repeats its condition. */
export function isFor(who: EventReaders, column: Column = events.readers): SQL {
  return sql`${column} = ${sql.raw(`'${who}'`)}`
}

/**
 * The events of workspaces, one for each change, written in the transaction of the change. No operation updates or
 * deletes an event, except that deleting a user erases the name and deleting a workspace deletes its events; with
 * `EVENTS_KEPT_DAYS` old ones are deleted (docs/design/events.md#retention). Users, keys and grants are not foreign keys, since events outlive them.
 */
export const events = pgTable(
  'events',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    type: text('type').notNull(),
    /**
     * Who may see it. A trigger gives it to events of older versions: their types are known to it, and what they do not know
     * is for managers.
     */
    readers: text('readers', { enum: eventReaders }).notNull(),
    actorType: text('actor_type', { enum: ['user', 'agent', 'service', 'system'] }).notNull(),
    actorUserId: uuid('actor_user_id'),
    actorName: text('actor_name').notNull(),
    grantId: uuid('grant_id'),
    apiKeyId: uuid('api_key_id'),
    source: text('source', { enum: ['web', 'api', 'mcp', 'system'] }).notNull(),
    targetType: text('target_type'),
    targetId: uuid('target_id'),
    /** The description for people. */
    summary: text('summary').notNull(),
    /** What happened, for programs (`eventKinds`). Empty in events that older versions wrote. */
    data: jsonb('data').$type<Record<string, unknown>>().notNull().default({}),
    /** The seed that the event is about, itself or through its evidence. */
    seedId: uuid('seed_id'),
    createdAt: instant('created_at').notNull(),
    /**
     * The place of the event among those of its workspace: 1, 2, 3 and so on, in the order of their commits. A trigger
     * gives it (docs/design/events.md#positions), also to events of older versions of the service.
     */
    position: bigint('position', { mode: 'number' }).notNull(),
  },
  (table) => [
    uniqueIndex('events_position_key').on(table.workspaceId, table.position),
    index('events_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    // For filters that match few events.
    index('events_by_type_idx').on(table.workspaceId, table.type, table.createdAt, table.id),
    index('events_by_actor_idx').on(table.workspaceId, table.actorUserId, table.createdAt, table.id),
    index('events_by_target_idx').on(table.workspaceId, table.targetId, table.createdAt, table.id),
    index('events_by_seed_idx')
      .on(table.workspaceId, table.seedId, table.createdAt, table.id)
      .where(sql`${table.seedId} is not null`),
    // One is enough: what others do not see of an agent is one event for each tool and day, and of its access few.
    index('events_by_agent_idx')
      .on(table.workspaceId, table.grantId, table.createdAt, table.id)
      .where(sql`${table.grantId} is not null`),
    // When each key last changed something (docs/design/credentials.md#keys-of-a-workspace).
    index('events_by_key_idx')
      .on(table.workspaceId, table.apiKeyId, table.createdAt)
      .where(sql`${table.apiKeyId} is not null`),
    // The same for members and viewers, who do not see all.
    index('events_for_everybody_idx')
      .on(table.workspaceId, table.createdAt, table.id)
      .where(isFor('everybody', table.readers)),
    index('events_for_everybody_by_actor_idx')
      .on(table.workspaceId, table.actorUserId, table.createdAt, table.id)
      .where(isFor('everybody', table.readers)),
    index('events_for_grantors_idx')
      .on(table.targetId, table.createdAt, table.id)
      .where(isFor('grantors', table.readers)),
  ],
)

/**
 * The position of the newest event of each workspace. A transaction that appends an event locks the row until it ends: so
 * positions become visible in their order, and a rollback leaves no gap.
 */
export const eventPositions = pgTable('event_positions', {
  workspaceId: uuid('workspace_id')
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  last: bigint('last', { mode: 'number' }).notNull(),
  /** The position of the newest event that was deleted for its age, with all before it, and its id; 0 before the first. */
  deletedUntil: bigint('deleted_until', { mode: 'number' }).notNull().default(0),
  deletedUntilId: uuid('deleted_until_id'),
})

/** The position of the newest event of a workspace, in a query; 0 without events. */
export function lastPositionOf(workspaceId: Column | SQL): SQL<number> {
  return subquery(sql`coalesce((
    select ${eventPositions.last} from ${eventPositions} where ${eventPositions.workspaceId} = ${workspaceId}
  ), 0)`).mapWith(Number)
}
