import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/prepared.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import type { Use } from '../../db/use-recorder.ts'
import type { AgentPrincipal } from '../../kernel/agent.ts'

const selectLiveGrant = prepared((executor) =>
  executor
    .select({
      grant: {
        id: agentGrants.id,
        clientId: agentGrants.clientId,
        clientName: agentGrants.clientName,
        scopes: agentGrants.scopes,
        expiresAt: agentGrants.expiresAt,
      },
      user: {
        id: users.id,
        name: users.name,
        email: users.email,
        emailVerifiedAt: users.emailVerifiedAt,
        imageKey: users.imageKey,
      },
      workspace: { id: workspaces.id, name: workspaces.name, slug: workspaces.slug },
      role: memberships.role,
    })
    .from(agentGrants)
    .innerJoin(
      memberships,
      and(eq(memberships.workspaceId, agentGrants.workspaceId), eq(memberships.userId, agentGrants.userId)),
    )
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .innerJoin(workspaces, eq(workspaces.id, agentGrants.workspaceId))
    .where(
      and(
        eq(agentGrants.id, sql.placeholder('grantId')),
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare('agent_grants_select_live'),
)

/**
 * Whom and what a grant is for, in one round trip. Undefined for one that is unknown, revoked or expired, or whose
 * person has left the workspace.
 */
export async function findLiveGrant(
  executor: Executor,
  grantId: string,
  now: Date,
): Promise<AgentPrincipal | undefined> {
  const [found] = await selectLiveGrant(executor).execute({ grantId, now: now.toISOString() })
  return found
}

/** Writes down when grants were last used, skipping those that another replica is just writing. */
export async function recordGrantUses(executor: Executor, uses: readonly Use[]): Promise<void> {
  const ids = sql.param(uses.map((use) => use.id))
  const times = sql.param(uses.map((use) => use.usedAt.toISOString()))
  await executor.execute(sql`
    update ${agentGrants} set last_used_at = used.at
    from (
      select id, at
      from ${agentGrants} join unnest(${ids}::uuid[], ${times}::timestamptz[]) as use (grant_id, at) on id = use.grant_id
      where last_used_at is null or last_used_at < at
      for no key update of ${agentGrants} skip locked
    ) as used
    where ${agentGrants}.id = used.id`)
}
