import { sql } from 'drizzle-orm'
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { seedImportStates, type RowFault } from '../../domain/seed-imports.ts'
import { instant } from './columns.ts'
import { users } from './users.ts'
import { workspaceId } from './workspaces.ts'

/** The imports of seeds from tables: how far they are, and who made and undid them. */
export const seedImports = pgTable(
  'seed_imports',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    state: text('state', { enum: seedImportStates }).notNull(),
    createdByUserId: uuid('created_by_user_id').references(() => users.id, { onDelete: 'set null' }),
    createdAt: instant('created_at').notNull(),
    /** When it was done or stopped. */
    finishedAt: instant('finished_at'),
    /** Of a draft: the table, and which field of a seed each column is, by its name. Null once it begins. */
    content: text('content'),
    mapping: jsonb('mapping').$type<Record<string, string>>(),
    /** The seeds to create, and those created. */
    total: integer('total').notNull().default(0),
    done: integer('done').notNull().default(0),
    /** The rows that were left out, and the first of their faults. */
    faultyCount: integer('faulty_count').notNull().default(0),
    faults: jsonb('faults').$type<RowFault[]>().notNull().default([]),
    undoneByUserId: uuid('undone_by_user_id').references(() => users.id, { onDelete: 'set null' }),
    /** Of one that was undone: the seeds that stayed, since others added to them, and those that were deleted. */
    keptCount: integer('kept_count'),
    removedCount: integer('removed_count'),
  },
  (table) => [
    index('seed_imports_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
    // One at a time in a workspace.
    uniqueIndex('seed_imports_in_progress_key')
      .on(table.workspaceId)
      .where(sql`${table.state} in ('running', 'undoing')`),
    index('seed_imports_age_idx').on(table.createdAt),
    // For deleting a person.
    index('seed_imports_creator_idx')
      .on(table.createdByUserId)
      .where(sql`${table.createdByUserId} is not null`),
    index('seed_imports_undoer_idx')
      .on(table.undoneByUserId)
      .where(sql`${table.undoneByUserId} is not null`),
  ],
)

/** The slices of imports, each of which one transaction creates, or deletes again. */
export const seedImportSlices = pgTable(
  'seed_import_slices',
  {
    importId: uuid('import_id')
      .notNull()
      .references(() => seedImports.id, { onDelete: 'cascade' }),
    number: integer('number').notNull(),
    /** The seeds to create, as they were read. Null once they are created. */
    rows: jsonb('rows').$type<object[]>(),
    /** The seeds that were created. */
    seedIds: uuid('seed_ids')
      .array()
      .notNull()
      .default(sql`'{}'`),
    isUndone: boolean('is_undone').notNull().default(false),
  },
  (table) => [primaryKey({ columns: [table.importId, table.number] })],
)
