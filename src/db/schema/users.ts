import { sql } from 'drizzle-orm'
import { boolean, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'

/** A person, with the preferences that only they have. */
export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    /** As it was given, or proven: where mail goes. */
    email: text('email').notNull(),
    /**
     * What addresses are compared by (kernel/email.ts). Null until it has been computed, and for an address that nobody
     * can be found by (docs/decisions/0075).
     */
    canonicalEmail: text('canonical_email'),
    emailVerifiedAt: instant('email_verified_at'),
    /** Null for somebody who has never signed in on the website. */
    firstSignedInAt: instant('first_signed_in_at'),
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
    uniqueIndex('users_canonical_email_key').on(table.canonicalEmail),
    index('users_search_text_idx').using('gin', table.searchText.op('gin_trgm_ops')),
  ],
)
