import { sql } from 'drizzle-orm'
import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { users } from './users.ts'

/** A workspace. */
export const workspaces = pgTable(
  'workspaces',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    /** The present slug, which workspace_slugs decides on. */
    slug: text('slug').notNull(),
    /** The storage key of the icon. */
    iconKey: text('icon_key'),
    /** Mail domains, in lower case and ASCII, whose verified people may join by themselves. */
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

/**
 * Whose a slug is: the present slug of each workspace, and those that it had before for as long as they are kept. Being
 * one table with the slug as its key it cannot give a slug to two workspaces, however they race.
 */
export const workspaceSlugs = pgTable(
  'workspace_slugs',
  {
    slug: text('slug').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    /** Until when a former slug is kept; null for the present one. */
    keptUntil: instant('kept_until'),
  },
  (table) => [index('workspace_slugs_workspace_id_idx').on(table.workspaceId)],
)
