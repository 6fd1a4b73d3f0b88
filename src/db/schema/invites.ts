import { sql } from 'drizzle-orm'
import { boolean, index, pgTable, primaryKey, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { roles, type Role } from '../../domain/roles.ts'
import { bytea, instant, keyInWorkspace } from './columns.ts'
import { teams } from './teams.ts'
import { users } from './users.ts'
import { workspaceId } from './workspaces.ts'

/** The invites to workspaces. */
export const invites = pgTable(
  'invites',
  {
    id: uuid('id').primaryKey(),
    workspaceId: workspaceId(),
    /** As entered; mail is sent to it. */
    email: text('email').notNull(),
    /** For comparison, as `canonical_email` of users. */
    canonicalEmail: text('canonical_email'),
    role: text('role', { enum: roles }).$type<Role>().notNull(),
    /** `open` covers pending and expired invites. An expired invite is `replaced` by a new one for the same address. */
    state: text('state', { enum: ['open', 'accepted', 'declined', 'revoked', 'replaced'] }).notNull(),
    invitedByUserId: uuid('invited_by_user_id')
      .notNull()
      .references(() => users.id),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    lastSentAt: instant('last_sent_at'),
    /** When it was sent again by a change; its mail may wait. */
    resentAt: instant('resent_at'),
    /** When the mail server said of its last mail that there is no such address. */
    refusedAt: instant('refused_at'),
    /** Unused. The version before searches the directory by it; a version after this one drops it. */
    searchText: text('search_text').generatedAlwaysAs(sql`lower(email)`),
  },
  (table) => [
    unique('invites_of_workspace_key').on(table.workspaceId, table.id),
    uniqueIndex('invites_open_canonical_email_key')
      .on(table.workspaceId, table.canonicalEmail)
      .where(sql`${table.state} = 'open'`),
    index('invites_open_idx')
      .on(table.workspaceId, table.createdAt, table.id)
      .where(sql`${table.state} = 'open'`),
    // For the invites that wait for a person.
    index('invites_open_by_address_idx')
      .on(table.canonicalEmail)
      .where(sql`${table.state} = 'open'`),
    // For counting the invites to an address.
    index('invites_by_lower_email_idx').on(sql`lower(${table.email})`),
    // Unused, as the column.
    index('invites_by_address_idx').on(table.searchText),
    index('invites_search_text_idx').using('gin', table.searchText.op('gin_trgm_ops')),
  ],
)

/** Whether an invite is open. A literal, not a parameter: only then can a prepared statement use the partial indexes. */
export const isOpen = sql`${invites.state} = 'open'`

/**
 * The tokens of invite links, as SHA-256: one for the response that created or resent the invite, and one for each
 * mail. The token of a mail is created by the job that sends it, so that the queue contains no token.
 */
export const inviteTokens = pgTable(
  'invite_tokens',
  {
    tokenHash: bytea('token_hash').primaryKey(),
    inviteId: uuid('invite_id')
      .notNull()
      .references(() => invites.id, { onDelete: 'cascade' }),
    /**
     * Whether it was created for a mail: then whoever has it reads the mail of the address
     * (docs/design/accounts.md#the-mailed-link-of-an-invite).
     */
    isMailed: boolean('is_mailed').notNull().default(false),
  },
  (table) => [index('invite_tokens_invite_id_idx').on(table.inviteId)],
)

/** The teams that an invited person joins with the workspace. */
export const inviteTeams = pgTable(
  'invite_teams',
  {
    inviteId: uuid('invite_id').notNull(),
    teamId: uuid('team_id').notNull(),
    /** That of both. A trigger fills it in for the version before, which does not know the column. */
    workspaceId: uuid('workspace_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.inviteId, table.teamId] }),
    keyInWorkspace('invite_teams_invite_fk', table, table.inviteId, invites).onDelete('cascade'),
    keyInWorkspace('invite_teams_team_fk', table, table.teamId, teams).onDelete('cascade'),
    index('invite_teams_team_id_idx').on(table.teamId),
  ],
)
