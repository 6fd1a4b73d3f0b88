import { isNull, sql, type Column, type SQL } from 'drizzle-orm'
import { boolean, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { noticeChoices, personalChoices } from '../../domain/notifications.ts'
import { userKinds } from '../../domain/service-accounts.ts'
import { instant } from './columns.ts'
import { subquery } from './subquery.ts'

/** The users, with their preferences. */
export const users = pgTable(
  'users',
  {
    id: uuid('id').primaryKey(),
    /** A service account is a member of one workspace that nobody signs in as (docs/design/credentials.md#service-accounts). */
    kind: text('kind', { enum: userKinds }).notNull().default('person'),
    /** As entered or verified; mail is sent to it. */
    email: text('email').notNull(),
    /**
     * For comparison (kernel/email.ts). Null only in rows of versions before 1.0.0-alpha.1
     * (docs/design/database.md#the-baseline).
     */
    canonicalEmail: text('canonical_email'),
    emailVerifiedAt: instant('email_verified_at'),
    /** Null before the first sign-in on the website. */
    firstSignedInAt: instant('first_signed_in_at'),
    /** Since when an operator has suspended the person; null if none has (docs/design/accounts.md#suspended-people). */
    suspendedAt: instant('suspended_at'),
    name: text('name').notNull(),
    /** The storage key of the profile photo. */
    imageKey: text('image_key'),
    productUpdates: boolean('product_updates').notNull().default(true),
    workspaceActivity: boolean('workspace_activity').notNull().default(true),
    // How they are told of what, while `workspaceActivity` is on.
    notifyMentions: notice('notify_mentions', personalChoices),
    notifyDigest: boolean('notify_digest').notNull().default(true),
    notifyRoleChanges: notice('notify_role_changes', personalChoices),
    notifyAcceptedInvites: notice('notify_accepted_invites', noticeChoices),
    notifyAgents: notice('notify_agents', noticeChoices),
    notifyDecisions: notice('notify_decisions', noticeChoices),
    notifyAgentRequests: text('notify_agent_requests', { enum: noticeChoices }).notNull().default('inbox'),
    createdAt: instant('created_at').notNull(),
    /** Unused. The version before searches the directory by it; a version after this one drops it, with its index. */
    searchText: text('search_text').generatedAlwaysAs(sql`lower(name || ' ' || email)`),
  },
  (table) => [
    uniqueIndex('users_canonical_email_key').on(table.canonicalEmail),
    index('users_search_text_idx').using('gin', table.searchText.op('gin_trgm_ops')),
  ],
)

function notice<Choice extends string>(name: string, choices: readonly [Choice, ...Choice[]]) {
  return text(name, { enum: choices })
    .notNull()
    .default(sql`'mail'`)
}

/** The owner of a row, which is deleted with them. */
export const userId = () =>
  uuid('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' })

/** Whether the person of the row is not suspended. */
export const isActive = isNull(users.suspendedAt)

/** Whether the person of another row is not suspended. */
export const isActivePerson = (userId: Column | SQL) =>
  subquery(sql`not exists (
  select from ${users} as suspended where suspended.id = ${userId} and suspended.suspended_at is not null
)`)

/** What is read of a person along with the credential of a request. */
export const principalColumns = {
  id: users.id,
  name: users.name,
  email: users.email,
  emailVerifiedAt: users.emailVerifiedAt,
  imageKey: users.imageKey,
}
