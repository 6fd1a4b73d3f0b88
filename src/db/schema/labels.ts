import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'
import { workspaceId } from './workspaces.ts'

/** The labels of workspaces, which seeds have. */
export const labels = pgTable(
  'labels',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    name: text('name').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('labels_name_key').on(table.workspaceId, sql`lower(${table.name})`),
    index('labels_by_workspace_idx').on(table.workspaceId, table.createdAt, table.id),
  ],
)
