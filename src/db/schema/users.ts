import { sql } from 'drizzle-orm'
import { boolean, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'

/** A person, with the preferences that only they have. */
export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    /** As given; compared in lower case. */
    email: text('email').notNull(),
    emailVerifiedAt: instant('email_verified_at'),
    name: text('name').notNull(),
    /** The storage key of the profile photo. */
    imageKey: text('image_key'),
    productUpdates: boolean('product_updates').notNull().default(true),
    workspaceActivity: boolean('workspace_activity').notNull().default(true),
    createdAt: instant('created_at').notNull(),
    /** What the directory is searched by. */
    searchText: text('search_text').generatedAlwaysAs(sql`lower(name || ' ' || email)`),
  },
  (table) => [
    uniqueIndex('users_email_key').on(sql`lower(${table.email})`),
    index('users_search_text_idx').using('gin', table.searchText.op('gin_trgm_ops')),
  ],
)
