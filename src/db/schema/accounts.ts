import { index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { accountTokenPurposes } from '../../domain/accounts.ts'
import { bytea, instant } from './columns.ts'
import { userId, users } from './users.ts'

/** Password hashes (argon2id). A table of their own, so that queries of users do not read them. */
export const passwords = pgTable('passwords', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  hash: text('hash').notNull(),
  changedAt: instant('changed_at').notNull(),
  /** The SHA-256 of the cookie of the browser that it was chosen in at sign-up. Null if it was chosen otherwise. */
  browserHash: bytea('browser_hash'),
})

/** The sessions of users on the website. The token of the cookie is stored as SHA-256. */
export const sessions = pgTable(
  'sessions',
  {
    id: uuid('id').primaryKey(),
    userId: userId(),
    tokenHash: bytea('token_hash').notNull().unique('sessions_token_hash_key'),
    /** The `User-Agent`, by which users recognize the session. */
    userAgent: text('user_agent').notNull(),
    createdAt: instant('created_at').notNull(),
    /** With a precision of one hour. */
    lastUsedAt: instant('last_used_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /**
     * How often the session was renewed. From 1 on, its cookie counts only with the one that is made of this number
     * (docs/design/sessions.md#sessions), so that a copy of before is worth nothing.
     */
    renewals: integer('renewals').notNull().default(0),
    /** When the user last proved who they are, at the sign-in or since. Null for a session of an earlier release. */
    provenAt: instant('proven_at'),
  },
  (table) => [
    index('sessions_user_id_idx').on(table.userId),
    index('sessions_expires_at_idx').on(table.expiresAt),
  ],
)

/** Sessions that ended within a day, so that a form sent after that can be kept for their user. */
export const endedSessions = pgTable(
  'ended_sessions',
  {
    tokenHash: bytea('token_hash').primaryKey(),
    userId: userId(),
    endedAt: instant('ended_at').notNull().defaultNow(),
  },
  (table) => [
    index('ended_sessions_user_id_idx').on(table.userId),
    index('ended_sessions_ended_at_idx').on(table.endedAt),
  ],
)

/**
 * The browsers in which users have signed in: a sign-in in another browser is reported by mail. They outlive sessions.
 * The token of the cookie is stored as SHA-256.
 */
export const knownBrowsers = pgTable(
  'known_browsers',
  {
    userId: userId(),
    tokenHash: bytea('token_hash').notNull(),
    /** The last sign-in with it. */
    usedAt: instant('used_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.tokenHash] }),
    index('known_browsers_used_at_idx').on(table.usedAt),
  ],
)

/**
 * The tokens of links for verifying an address, signing in and resetting a password, as SHA-256. Using one deletes it.
 */
export const accountTokens = pgTable(
  'account_tokens',
  {
    tokenHash: bytea('token_hash').primaryKey(),
    userId: userId(),
    /** The recipient, whose address is verified by using the link. Null for a link created by an operator. */
    email: text('email'),
    purpose: text('purpose', { enum: accountTokenPurposes }).notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('account_tokens_user_id_idx').on(table.userId),
    index('account_tokens_expires_at_idx').on(table.expiresAt),
  ],
)

/** The accounts at identity providers that users sign in with. */
export const identities = pgTable(
  'identities',
  {
    /** The issuer identifies the provider. Its id in the settings may change. */
    issuer: text('issuer').notNull(),
    /** The `sub` of OpenID Connect Core §2, which the issuer never reassigns. */
    subject: text('subject').notNull(),
    userId: userId(),
    createdAt: instant('created_at').notNull(),
    /** The row stays when the user unlinks the account, so that a sign-in does not link it again. */
    unlinkedAt: instant('unlinked_at'),
  },
  (table) => [
    primaryKey({ columns: [table.issuer, table.subject] }),
    index('identities_user_id_idx').on(table.userId),
  ],
)

/** Changes of email addresses that wait for the link in the mail to the new address. One for each user. */
export const emailChanges = pgTable(
  'email_changes',
  {
    id: uuid('id').primaryKey(),
    userId: userId().unique('email_changes_user_id_key'),
    /** The new address. */
    email: text('email').notNull(),
    /** The token of the link, as SHA-256. Null until the mail is sent. */
    tokenHash: bytea('token_hash').unique('email_changes_token_hash_key'),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('email_changes_expires_at_idx').on(table.expiresAt)],
)

/** The verified addresses that users had before. They are erased with the user. */
export const formerEmails = pgTable(
  'former_emails',
  {
    userId: userId(),
    email: text('email').notNull(),
    changedAt: instant('changed_at').notNull(),
    /**
     * The canonical form, while nobody else may take the address (docs/design/sessions.md#taking-an-address-back). Null
     * if anybody may.
     */
    canonicalEmail: text('canonical_email'),
    /** The token of the link that takes the address back, as SHA-256. Null until the mail is sent, and once it was used. */
    tokenHash: bytea('token_hash').unique('former_emails_token_hash_key'),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.email] }),
    index('former_emails_canonical_email_idx').on(table.canonicalEmail),
  ],
)
