import { index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { users } from './users.ts'
import { workspaces } from './workspaces.ts'

/**
 * Who is not to come into a workspace by the domain of their address, though it allows it, until they are invited:
 * `removed` is never offered it again, `left` and `declined` may still join by themselves.
 */
export const departures = pgTable(
  'departures',
  {
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    kind: text('kind', { enum: ['removed', 'left', 'declined'] }).notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.userId] }),
    index('departures_user_id_idx').on(table.userId),
  ],
)
