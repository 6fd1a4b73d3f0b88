import { sql } from 'drizzle-orm'
import { boolean, date, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'
import { keyOfMembership } from './memberships.ts'
import { users } from './users.ts'
import { workspaceId } from './workspaces.ts'

/**
 * The grants of users to agents, each in one workspace. The foreign key to the membership deletes them when it ends.
 */
export const agentGrants = pgTable(
  'agent_grants',
  {
    id: uuid('id').primaryKey(),
    clientId: text('client_id').notNull(),
    /** The name of the client at the time of consent. */
    clientName: text('client_name').notNull(),
    clientUri: text('client_uri'),
    workspaceId: uuid('workspace_id').notNull(),
    userId: uuid('user_id').notNull(),
    scopes: text('scopes').array().notNull(),
    /** The version of the texts that the person agreed to (`consentVersion`). */
    consentVersion: integer('consent_version').notNull().default(0),
    /** Whether other members may ask the agent (`mayServeMembers`). */
    membersMayAsk: boolean('members_may_ask').notNull().default(false),
    createdAt: instant('created_at').notNull(),
    /** Not indexed, so that updates stay heap-only. */
    lastUsedAt: instant('last_used_at'),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
    /** The identity provider that asserted the person, without a consent of theirs. Null: the person gave the access. */
    assertedIssuer: text('asserted_issuer'),
    /** Who was shown the secret of a client of a service account, or gave its key. Null for other clients. */
    shownToUserId: uuid('shown_to_user_id').references(() => users.id, { onDelete: 'set null' }),
    /** The hash of the secret that such a client had before. It works until `formerSecretUntil`. */
    formerSecretHash: text('former_secret_hash'),
    formerSecretUntil: instant('former_secret_until'),
    formerShownToUserId: uuid('former_shown_to_user_id').references(() => users.id, { onDelete: 'set null' }),
    /**
     * Whether an assertion gives the access anew after it was revoked: unless the policy or an unlinked account ended it, the
     * person has to allow that.
     */
    mayReturn: boolean('may_return').notNull().default(false),
  },
  (table) => [
    keyOfMembership('agent_grants_membership_fk', table, table.userId).onDelete('cascade'),
    // Also serves the cascade from memberships, so it includes revoked grants.
    index('agent_grants_of_person_idx').on(table.workspaceId, table.userId, table.createdAt, table.id),
    index('agent_grants_by_workspace_idx')
      .on(table.workspaceId, table.createdAt, table.id)
      .where(sql`${table.revokedAt} is null`),
    index('agent_grants_by_client_idx').on(table.clientId),
    index('agent_grants_shown_to_idx')
      .on(table.shownToUserId)
      .where(sql`${table.shownToUserId} is not null`),
    index('agent_grants_former_shown_to_idx')
      .on(table.formerShownToUserId)
      .where(sql`${table.formerShownToUserId} is not null`),
  ],
)

/** Which agents get access for members by assertions of identity providers. A workspace without a row allows none. */
export const agentPolicies = pgTable(
  'agent_policies',
  {
    workspaceId: workspaceId().primaryKey(),
    isOn: boolean('is_on').notNull(),
    scopes: text('scopes').array().notNull(),
    /** The ids of OAuth clients. */
    clients: text('clients').array().notNull(),
    /** The version of the scopes that the owner agreed to (`consentVersion`). */
    consentVersion: integer('consent_version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [index('agent_policies_clients_idx').using('gin', table.clients)],
)

/** How often an agent called each tool, for each day in UTC. */
export const agentCalls = pgTable(
  'agent_calls',
  {
    grantId: uuid('grant_id')
      .notNull()
      .references(() => agentGrants.id, { onDelete: 'cascade' }),
    day: date('day').notNull(),
    /** The name of the tool over MCP, also for calls over HTTP. */
    tool: text('tool').notNull(),
    calls: integer('calls').notNull(),
    failures: integer('failures').notNull(),
    lastCalledAt: instant('last_called_at').notNull(),
    /** The code of the last error. */
    lastFailure: text('last_failure'),
    lastFailureAt: instant('last_failure_at'),
  },
  (table) => [primaryKey({ columns: [table.grantId, table.day, table.tool] })],
)

/** The calls of agents one by one, without their arguments. Kept for a while, and the newest of each grant. */
export const agentCallLog = pgTable(
  'agent_call_log',
  {
    grantId: uuid('grant_id')
      .notNull()
      .references(() => agentGrants.id, { onDelete: 'cascade' }),
    calledAt: instant('called_at').notNull(),
    id: uuid('id').notNull(),
    tool: text('tool').notNull(),
    /** The seed that the call was about, as the agent named it: it may not exist, or be of another workspace. */
    seedId: uuid('seed_id'),
    /** `ok`, or the code of the error. */
    code: text('code').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.grantId, table.calledAt, table.id] }),
    // For deleting old ones.
    index('agent_call_log_called_at_idx').on(table.calledAt),
  ],
)

/** The addresses from which the tokens of a grant were fetched. */
export const agentGrantAddresses = pgTable(
  'agent_grant_places',
  {
    grantId: uuid('grant_id')
      .notNull()
      .references(() => agentGrants.id, { onDelete: 'cascade' }),
    /** An IPv4 address, or the /64 of an IPv6 address. */
    address: text('address').notNull(),
    firstSeenAt: instant('first_seen_at').notNull(),
    lastSeenAt: instant('last_seen_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.grantId, table.address] })],
)
