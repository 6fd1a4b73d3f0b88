import { and, eq, isNotNull, isNull, sql, type Column, type SQL } from 'drizzle-orm'
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'
import { users } from './users.ts'

export const workspaces = pgTable(
  'workspaces',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** The current slug. Uniqueness is enforced by workspace_slugs. */
    slug: text('slug').notNull(),
    /** The storage key of the icon. */
    iconKey: text('icon_key'),
    /** Email domains, in lower case and ASCII, whose verified users may join without an invite. */
    allowedDomains: text('allowed_domains')
      .array()
      .notNull()
      .default(sql`'{}'`),
    /** Null when the creator has been deleted. */
    creatorUserId: uuid('creator_user_id').references(() => users.id),
    createdAt: instant('created_at').notNull(),
    /**
     * When it was deleted: for everybody but operators it does not exist any more
     * (docs/design/workspaces.md#deleted-workspaces).
     */
    deletedAt: instant('deleted_at'),
    /** Until when an export runs, which prolongs it; no other one may start before. */
    exportedUntil: instant('exported_until'),
  },
  (table) => [
    index('workspaces_allowed_domains_idx').using('gin', table.allowedDomains),
    index('workspaces_deleted_at_idx').on(table.deletedAt).where(isNotNull(table.deletedAt)),
  ],
)

/** Joins the workspace with an id, unless it is deleted. Only what operators and the clean-up do reads deleted ones. */
export const isWorkspace = (id: Column | SQL) => and(eq(workspaces.id, id), isNull(workspaces.deletedAt))

/** The workspace of a row, which is deleted with it. */
export const workspaceId = () =>
  uuid('workspace_id')
    .notNull()
    .references(() => workspaces.id, { onDelete: 'cascade' })

/**
 * The current and former slugs of workspaces. With the slug as primary key, concurrent requests cannot give a slug to
 * two workspaces.
 */
export const workspaceSlugs = pgTable(
  'workspace_slugs',
  {
    slug: text('slug').primaryKey(),
    /** Null for a slug of a workspace that was erased and whose slug is still kept. */
    workspaceId: uuid('workspace_id').references(() => workspaces.id, { onDelete: 'cascade' }),
    /** When a former slug, or the slug of a deleted workspace, becomes available again; null for a current one. */
    keptUntil: instant('kept_until'),
  },
  (table) => [index('workspace_slugs_workspace_id_idx').on(table.workspaceId)],
)

/** What lists show of a workspace. */
export const workspaceColumns = {
  id: workspaces.id,
  name: workspaces.name,
  slug: workspaces.slug,
  iconKey: workspaces.iconKey,
}
