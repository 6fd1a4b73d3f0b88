import { and, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { agentGrants, agentPolicies } from '../../db/schema/agent-grants.ts'
import { oauthRecords } from '../../db/schema/oauth.ts'

export type PolicyRow = typeof agentPolicies.$inferSelect

/** The policy of a workspace; undefined if it never had one. */
export async function findPolicy(executor: Executor, workspaceId: string): Promise<PolicyRow | undefined> {
  const [policy] = await executor
    .select()
    .from(agentPolicies)
    .where(eq(agentPolicies.workspaceId, workspaceId))
  return policy
}

/** Stores the policy of a workspace. */
export async function storePolicy(executor: Executor, row: PolicyRow): Promise<void> {
  await executor
    .insert(agentPolicies)
    .values(row)
    .onConflictDoUpdate({ target: agentPolicies.workspaceId, set: row })
}

/** Ends and narrows the access that assertions gave to agents, as far as a policy does not allow it any more. */
export async function applyPolicy(executor: Executor, policy: PolicyRow, now: Date): Promise<void> {
  const { workspaceId, isOn, clients, scopes } = policy
  const isAsserted = and(
    eq(agentGrants.workspaceId, workspaceId),
    isNotNull(agentGrants.assertedIssuer),
    isNull(agentGrants.revokedAt),
  )
  await executor
    .update(agentGrants)
    .set({ revokedAt: now, mayReturn: true })
    .where(
      and(isAsserted, isOn ? sql`${agentGrants.clientId} <> all(${sql.param(clients)}::text[])` : undefined),
    )
  const allowed = sql`${sql.param(scopes)}::text[]`
  await executor
    .update(agentGrants)
    .set({
      scopes: sql`array(select scope from unnest(${agentGrants.scopes}) as scope where scope = any(${allowed}))`,
    })
    .where(and(isAsserted, sql`not ${agentGrants.scopes} <@ ${allowed}`))
}

/** A client that registered itself, with the name and the method of authentication that it gave. */
export interface RegisteredClient {
  id: string
  name: string | null
  isPublic: boolean
}

/** The registered clients with some ids, without those of service accounts. */
export async function listRegisteredClients(
  executor: Executor,
  ids: readonly string[],
): Promise<RegisteredClient[]> {
  if (ids.length === 0) return []
  const { payload } = oauthRecords
  return executor
    .select({
      id: oauthRecords.key,
      name: sql<string | null>`${payload} ->> 'client_name'`,
      isPublic: sql<boolean>`${payload} ->> 'token_endpoint_auth_method' = 'none'`,
    })
    .from(oauthRecords)
    .where(
      and(
        eq(oauthRecords.kind, 'Client'),
        inArray(oauthRecords.key, [...ids]),
        sql`not ${payload} -> 'grant_types' ? 'client_credentials'`,
      ),
    )
}

/** Keeps registered clients, as those that a person has given access. */
export async function keepClients(executor: Executor, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return
  await executor
    .update(oauthRecords)
    .set({ grantedAt: now })
    .where(and(eq(oauthRecords.kind, 'Client'), inArray(oauthRecords.key, [...ids])))
}
