import { and, count, eq, gt, isNull } from 'drizzle-orm'
import { countActiveApiKeys } from '../areas/apiKeys/apiKeys.repository.ts'
import type { Executor } from '../db/client.ts'
import { agentGrants } from '../db/schema/agent-grants.ts'
import { apiKeys } from '../db/schema/api-keys.ts'
import { memberships } from '../db/schema/memberships.ts'

/** The number of credentials with which programs and agents act for a person. */
export interface Access {
  apiKeyCount: number
  grantCount: number
}

export async function countAccess(executor: Executor, userId: string, now: Date): Promise<Access> {
  const [grants] = await executor
    .select({ count: count() })
    .from(memberships)
    .innerJoin(
      agentGrants,
      and(eq(agentGrants.workspaceId, memberships.workspaceId), eq(agentGrants.userId, memberships.userId)),
    )
    .where(and(eq(memberships.userId, userId), isNull(agentGrants.revokedAt), gt(agentGrants.expiresAt, now)))
  return { apiKeyCount: await countActiveApiKeys(executor, userId), grantCount: grants?.count ?? 0 }
}

export async function revokeApiKeysOfUser(executor: Executor, userId: string, now: Date): Promise<void> {
  await executor
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt)))
}

export interface RevokedGrant {
  id: string
  workspaceId: string
  clientName: string
}

/** Revokes all grants of a person. Returns the grants that were active. */
export function revokeGrantsOfUser(executor: Executor, userId: string, now: Date): Promise<RevokedGrant[]> {
  return executor
    .update(agentGrants)
    .set({ revokedAt: now })
    .from(memberships)
    .where(
      and(
        eq(memberships.userId, userId),
        eq(agentGrants.workspaceId, memberships.workspaceId),
        eq(agentGrants.userId, memberships.userId),
        isNull(agentGrants.revokedAt),
      ),
    )
    .returning({
      id: agentGrants.id,
      workspaceId: agentGrants.workspaceId,
      clientName: agentGrants.clientName,
    })
}
