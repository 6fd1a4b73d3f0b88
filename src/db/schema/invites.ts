import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { roles, type Role } from '../../kernel/roles.ts'
import { bytea, instant } from '../columns.ts'
import { users } from './users.ts'
import { workspaces } from './workspaces.ts'

/** Who has been asked into a workspace. */
export const invites = pgTable(
  'invites',
  {
    id: uuid('id').primaryKey(),
    workspaceId: uuid('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    /** As given: where mail goes. */
    email: text('email').notNull(),
    /** What it is compared by, as that of a user. */
    canonicalEmail: text('canonical_email'),
    role: text('role', { enum: roles }).$type<Role>().notNull(),
    /** `open` until it is accepted, revoked, or replaced by another after it expired. */
    state: text('state', { enum: ['open', 'accepted', 'revoked', 'replaced'] }).notNull(),
    invitedByUserId: uuid('invited_by_user_id')
      .notNull()
      .references(() => users.id),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    lastSentAt: instant('last_sent_at'),
    /** What the directory is searched by. */
    searchText: text('search_text').generatedAlwaysAs(sql`lower(email)`),
  },
  (table) => [
    uniqueIndex('invites_open_canonical_email_key')
      .on(table.workspaceId, table.canonicalEmail)
      .where(sql`${table.state} = 'open'`),
    index('invites_open_idx')
      .on(table.workspaceId, table.createdAt, table.id)
      .where(sql`${table.state} = 'open'`),
    index('invites_search_text_idx').using('gin', table.searchText.op('gin_trgm_ops')),
  ],
)

/**
 * The tokens that lead to an invite: the one of the answer that made it, and one for each mail. Only their SHA-256 is
 * kept; a mail's token is made while the mail is, so that no token waits in the queue.
 */
export const inviteTokens = pgTable(
  'invite_tokens',
  {
    tokenHash: bytea('token_hash').primaryKey(),
    inviteId: uuid('invite_id')
      .notNull()
      .references(() => invites.id, { onDelete: 'cascade' }),
  },
  (table) => [index('invite_tokens_invite_id_idx').on(table.inviteId)],
)
