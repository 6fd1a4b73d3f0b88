import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { emailChanges, identities } from '../../db/schema/accounts.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { passkeys } from '../../db/schema/passkeys.ts'
import { authenticatorApps } from '../../db/schema/second-factors.ts'
import { users } from '../../db/schema/users.ts'
import type { AccessCounts } from '../../domain/accounts.ts'

/** Counts what gives access to a person's account besides the password. All zero for a person who does not exist. */
export async function countAccess(executor: Executor, userId: string, now: Date): Promise<AccessCounts> {
  const at = sql`${now.toISOString()}::timestamptz`
  const [counts] = await executor
    .select({
      apiKeyCount: sql<number>`(
        select count(*)::int from ${apiKeys} as k where k.user_id = users.id and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > ${at}))`,
      grantCount: sql<number>`(
        select count(*)::int from ${agentGrants} as g
        join ${memberships} as m on m.workspace_id = g.workspace_id and m.user_id = g.user_id
        where m.user_id = users.id and g.revoked_at is null and g.expires_at > ${at})`,
      passkeyCount: sql<number>`(
        select count(*)::int from ${passkeys} as p where p.user_id = users.id)`,
      identityCount: sql<number>`(
        select count(*)::int from ${identities} as i where i.user_id = users.id and i.unlinked_at is null)`,
      emailChangeCount: sql<number>`(
        select count(*)::int from ${emailChanges} as c where c.user_id = users.id and c.expires_at > ${at})`,
      unconfirmedAppCount: sql<number>`(
        select count(*)::int from ${authenticatorApps} as a
        where a.user_id = users.id and a.confirmed_at is null)`,
    })
    .from(users)
    .where(eq(users.id, userId))
  return counts ?? noAccess
}

const noAccess: AccessCounts = {
  apiKeyCount: 0,
  grantCount: 0,
  passkeyCount: 0,
  identityCount: 0,
  emailChangeCount: 0,
  unconfirmedAppCount: 0,
}

export interface RevokedGrant {
  id: string
  workspaceId: string
  clientName: string
}

/** Revokes the API keys and grants of a person. Returns the number of keys, and the grants. */
export async function revokePrograms(
  executor: Executor,
  userId: string,
  now: Date,
): Promise<{ apiKeyCount: number; grants: RevokedGrant[] }> {
  const grants = await executor
    .update(agentGrants)
    .set({ revokedAt: now })
    .from(memberships)
    .where(
      and(
        eq(memberships.userId, userId),
        eq(agentGrants.workspaceId, memberships.workspaceId),
        eq(agentGrants.userId, memberships.userId),
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, now),
      ),
    )
    .returning({
      id: agentGrants.id,
      workspaceId: agentGrants.workspaceId,
      clientName: agentGrants.clientName,
    })
  const keys = await executor
    .update(apiKeys)
    .set({ revokedAt: now })
    .where(
      and(
        eq(apiKeys.userId, userId),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
      ),
    )
  return { apiKeyCount: keys.rowCount ?? 0, grants }
}

/**
 * Revokes what gives access to a person's account besides the password, and what could: API keys, grants, passkeys,
 * linked accounts, a pending change of the email address, and an authenticator app that is being set up. Returns how
 * many of each there were, and the grants.
 */
export async function revokeAllAccess(
  executor: Executor,
  userId: string,
  now: Date,
): Promise<{ counts: AccessCounts; grants: RevokedGrant[] }> {
  const { apiKeyCount, grants } = await revokePrograms(executor, userId, now)
  const removedPasskeys = await executor.delete(passkeys).where(eq(passkeys.userId, userId))
  // The rows stay, so that a sign-in with the provider does not link the account again.
  const unlinked = await executor
    .update(identities)
    .set({ unlinkedAt: now })
    .where(and(eq(identities.userId, userId), isNull(identities.unlinkedAt)))
  const changes = await executor
    .delete(emailChanges)
    .where(and(eq(emailChanges.userId, userId), gt(emailChanges.expiresAt, now)))
  const apps = await executor
    .delete(authenticatorApps)
    .where(and(eq(authenticatorApps.userId, userId), isNull(authenticatorApps.confirmedAt)))
  return {
    counts: {
      apiKeyCount,
      grantCount: grants.length,
      passkeyCount: removedPasskeys.rowCount ?? 0,
      identityCount: unlinked.rowCount ?? 0,
      emailChangeCount: changes.rowCount ?? 0,
      unconfirmedAppCount: apps.rowCount ?? 0,
    },
    grants,
  }
}
