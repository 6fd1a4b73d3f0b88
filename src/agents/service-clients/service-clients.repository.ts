import { and, count, desc, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { oauthRecords } from '../../db/schema/oauth.ts'
import { subquery } from '../../db/schema/subquery.ts'
import type { ServiceClientMethod } from '../../domain/service-accounts.ts'
import { isLive } from '../oauth/records/grant-records.repository.ts'

/** Whose clients: those of the user of a service account in its workspace. */
interface Owner {
  workspaceId: string
  userId: string
}

const isOf = ({ workspaceId, userId }: Owner) =>
  and(eq(agentGrants.workspaceId, workspaceId), eq(agentGrants.userId, userId))

/** The live clients of a service account, newest first. */
export async function listServiceClients(executor: Executor, owner: Owner, now: Date) {
  const ofClient = (name: string) => sql`${oauthRecords.payload} ->> ${sql.raw(`'${name}'`)}`
  return executor
    .select({
      id: agentGrants.id,
      clientId: agentGrants.clientId,
      name: agentGrants.clientName,
      method: sql<ServiceClientMethod>`${ofClient('token_endpoint_auth_method')}`,
      jwksUri: sql<string | null>`${ofClient('jwks_uri')}`,
      scopes: agentGrants.scopes,
      createdAt: agentGrants.createdAt,
      lastUsedAt: agentGrants.lastUsedAt,
      expiresAt: agentGrants.expiresAt,
      formerSecretUntil: agentGrants.formerSecretUntil,
    })
    .from(agentGrants)
    .innerJoin(oauthRecords, and(eq(oauthRecords.kind, 'Client'), eq(oauthRecords.key, agentGrants.clientId)))
    .where(and(isOf(owner), isLive(now)))
    .orderBy(desc(agentGrants.createdAt), desc(agentGrants.id))
}

/** How many live clients a service account has. */
export async function countServiceClients(executor: Executor, owner: Owner, now: Date): Promise<number> {
  const [row] = await executor
    .select({ count: count() })
    .from(agentGrants)
    .where(and(isOf(owner), isLive(now)))
  return row?.count ?? 0
}

/** A client of a service account, also one whose access has ended, locked until the transaction ends. */
export async function lockServiceClient(executor: Executor, owner: Owner, id: string) {
  const [found] = await executor
    .select({
      id: agentGrants.id,
      clientId: agentGrants.clientId,
      name: agentGrants.clientName,
      scopes: agentGrants.scopes,
      expiresAt: agentGrants.expiresAt,
      revokedAt: agentGrants.revokedAt,
      shownToUserId: agentGrants.shownToUserId,
      formerSecretUntil: agentGrants.formerSecretUntil,
      method: subquery(sql<ServiceClientMethod>`(
        select ${oauthRecords.payload} ->> 'token_endpoint_auth_method' from ${oauthRecords}
        where ${oauthRecords.kind} = 'Client' and ${oauthRecords.key} = ${agentGrants.clientId})`),
    })
    .from(agentGrants)
    .where(and(isOf(owner), eq(agentGrants.id, id)))
    .for('no key update')
  return found
}
