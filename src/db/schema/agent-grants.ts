import { sql } from 'drizzle-orm'
import { foreignKey, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { memberships } from './memberships.ts'

/**
 * What a person has allowed an agent in one workspace. Whoever leaves the workspace ends what they allowed in it, by the
 * reference to the membership.
 */
export const agentGrants = pgTable(
  'agent_grants',
  {
    id: uuid('id').primaryKey(),
    clientId: text('client_id').notNull(),
    /** What the client called itself when it was allowed. */
    clientName: text('client_name').notNull(),
    clientUri: text('client_uri'),
    workspaceId: uuid('workspace_id').notNull(),
    userId: uuid('user_id').notNull(),
    scopes: text('scopes').array().notNull(),
    createdAt: instant('created_at').notNull(),
    /** In no index, so that writing it stays a heap-only update. */
    lastUsedAt: instant('last_used_at'),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
  },
  (table) => [
    foreignKey({
      name: 'agent_grants_membership_fk',
      columns: [table.workspaceId, table.userId],
      foreignColumns: [memberships.workspaceId, memberships.userId],
    }).onDelete('cascade'),
    // Also what the end of a membership finds its grants by, the revoked ones among them.
    index('agent_grants_of_person_idx').on(table.workspaceId, table.userId, table.createdAt, table.id),
    index('agent_grants_by_workspace_idx')
      .on(table.workspaceId, table.createdAt, table.id)
      .where(sql`${table.revokedAt} is null`),
    index('agent_grants_by_client_idx').on(table.clientId),
  ],
)
