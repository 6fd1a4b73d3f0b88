import { isNotNull, isNull, sql } from 'drizzle-orm'
import { index, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { noSeedFilters, type SavedSeedFilters } from '../../domain/saved-filters.ts'
import { instant } from './columns.ts'
import { keyOfMembership } from './memberships.ts'
import { workspaceId } from './workspaces.ts'

/** Filters of lists of seeds by a name, of a member alone or shared with their workspace. */
export const savedFilters = pgTable(
  'saved_filters',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    /** The only member who sees it, and deleted with that membership; null for a shared one. */
    ownerUserId: uuid('owner_user_id'),
    /** The member who shared it. Null for one that is not shared, and when that membership has ended. */
    sharedByUserId: uuid('shared_by_user_id'),
    name: text('name').notNull(),
    /** Those that are not null. It keeps the ids of what is gone, with which nothing is found. */
    filters: jsonb('filters').$type<Partial<SavedSeedFilters>>().notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    keyOfMembership('saved_filters_owner_fk', table, table.ownerUserId).onDelete('cascade'),
    // In the migration it sets only the member to null, which Drizzle cannot express.
    keyOfMembership('saved_filters_shared_by_fk', table, table.sharedByUserId).onDelete('set null'),
    // Also finds what a member sees: their own, and those of nobody alone.
    uniqueIndex('saved_filters_own_name_key').on(
      table.workspaceId,
      table.ownerUserId,
      sql`lower(${table.name})`,
    ),
    uniqueIndex('saved_filters_shared_name_key')
      .on(table.workspaceId, sql`lower(${table.name})`)
      .where(isNull(table.ownerUserId)),
    // For exporting a person, and for the end of a membership.
    index('saved_filters_owner_idx')
      .on(table.ownerUserId, table.workspaceId)
      .where(isNotNull(table.ownerUserId)),
    index('saved_filters_shared_by_idx')
      .on(table.sharedByUserId, table.workspaceId)
      .where(isNotNull(table.sharedByUserId)),
  ],
)

const none = sql.raw(`'${JSON.stringify(noSeedFilters)}'::jsonb`)

/** The filters of a saved filter, with null for all that are not asked for. */
export const filtersOfSaved = sql<SavedSeedFilters>`${none} || ${savedFilters.filters}`
