import { sql } from 'drizzle-orm'
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
  },
  (table) => [index('workspaces_allowed_domains_idx').using('gin', table.allowedDomains)],
)

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
    workspaceId: workspaceId(),
    /** When a former slug becomes available again; null for the current one. */
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
