import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { principalColumns, users } from '../../db/schema/users.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import { writeUses } from '../../db/last-used.repository.ts'
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
      user: principalColumns,
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
 * The agent, person and workspace of a grant, in one round trip. Undefined when the grant is unknown, revoked or expired,
 * or the person has left the workspace.
 */
export async function findLiveGrant(
  executor: Executor,
  grantId: string,
  now: Date,
): Promise<AgentPrincipal | undefined> {
  const [found] = await selectLiveGrant(executor).execute({ grantId, now: now.toISOString() })
  return found
}

/** Records when grants were last used. Skips rows that another replica has locked. */
export function recordGrantUses(executor: Executor, uses: readonly Use[]): Promise<void> {
  return writeUses(executor, agentGrants, uses)
}
