import { index, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { accountTokenPurposes } from '../../kernel/accounts.ts'
import { bytea, instant } from '../columns.ts'
import { users } from './users.ts'

/** What people sign in with, as argon2id. Apart from the users, so that no query for a person brings it along. */
export const passwords = pgTable('passwords', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  hash: text('hash').notNull(),
  changedAt: instant('changed_at').notNull(),
})

/** The browsers in which people are signed in. Of the cookie only the SHA-256 is kept. */
export const sessions = pgTable(
  'sessions',
  {
    id: uuid('id').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    tokenHash: bytea('token_hash').notNull().unique('sessions_token_hash_key'),
    /** What the browser called itself, so that people recognize it in the list. */
    userAgent: text('user_agent').notNull(),
    createdAt: instant('created_at').notNull(),
    /** To the hour. */
    lastUsedAt: instant('last_used_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('sessions_user_id_idx').on(table.userId),
    index('sessions_expires_at_idx').on(table.expiresAt),
  ],
)

/**
 * The browsers in which people have signed in, so that a sign-in in another one is told to them. They outlive sessions.
 * Of the cookie only the SHA-256 is kept.
 */
export const knownBrowsers = pgTable(
  'known_browsers',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    tokenHash: bytea('token_hash').notNull(),
    /** When somebody last signed in with it. */
    usedAt: instant('used_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.tokenHash] }),
    index('known_browsers_used_at_idx').on(table.usedAt),
  ],
)

/** The links in mails that prove an address. Only their SHA-256 is kept; using one deletes it. */
export const accountTokens = pgTable(
  'account_tokens',
  {
    tokenHash: bytea('token_hash').primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** Where the link was sent, which using it proves; null for one that an operator handed over. */
    email: text('email'),
    purpose: text('purpose', { enum: accountTokenPurposes }).notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('account_tokens_user_id_idx').on(table.userId),
    index('account_tokens_expires_at_idx').on(table.expiresAt),
  ],
)

/** Whom an external identity provider's account stands for. */
export const identities = pgTable(
  'identities',
  {
    /** The issuer, which is the provider for good; a name in the settings may change. */
    issuer: text('issuer').notNull(),
    /** The `sub` of OpenID Connect Core §2: never given to anybody else by the issuer. */
    subject: text('subject').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.issuer, table.subject] }),
    index('identities_user_id_idx').on(table.userId),
  ],
)
