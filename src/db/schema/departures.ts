import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'
import { userId } from './users.ts'
import { workspaceId } from './workspaces.ts'

const kinds = ['removed', 'left', 'left_as_viewer', 'declined'] as const

export type DepartureKind = (typeof kinds)[number]

/**
 * Users who no longer join a workspace automatically by their email domain. One who was `removed` needs an invite; one
 * who has left or `declined` may still join by choice, after `left_as_viewer` as a viewer.
 */
export const departures = pgTable(
  'departures',
  {
    workspaceId: workspaceId(),
    userId: userId(),
    kind: text('kind', { enum: kinds }).notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspaceId, table.userId] }),
    index('departures_user_id_idx').on(table.userId),
  ],
)
