import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { isMembershipOf, memberships } from '../../db/schema/memberships.ts'
import { isActive, principalColumns, users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { writeUses } from '../../access/last-used.repository.ts'
import type { Use } from '../../concurrency/use-recorder.ts'
import { scopesOfRole, type AgentPrincipal } from '../../domain/agent.ts'
import { lowerOf } from '../../domain/roles.ts'

const selectLiveGrants = prepared((executor) =>
  executor
    .select({
      grant: {
        id: agentGrants.id,
        clientId: agentGrants.clientId,
        clientName: agentGrants.clientName,
        scopes: agentGrants.scopes,
        consentVersion: agentGrants.consentVersion,
        membersMayAsk: agentGrants.membersMayAsk,
        expiresAt: agentGrants.expiresAt,
        assertedIssuer: agentGrants.assertedIssuer,
      },
      user: principalColumns,
      workspace: { id: workspaces.id, name: workspaces.name, slug: workspaces.slug },
      role: memberships.role,
      isService: sql<boolean>`${users.kind} = 'service'`.as('is_service'),
    })
    .from(agentGrants)
    .innerJoin(memberships, isMembershipOf(agentGrants, agentGrants.userId))
    .innerJoin(users, and(eq(users.id, agentGrants.userId), isActive))
    .innerJoin(workspaces, isWorkspace(agentGrants.workspaceId))
    .where(
      and(
        sql`${agentGrants.id} = any(${keysParameter('grantIds', 'uuid')})`,
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare('agent_grants_select_live'),
)

/**
 * The agents, people and workspaces of grants, in one round trip, in the order of the ids. Undefined for a grant that is
 * unknown, revoked or expired, or whose person has left the workspace or is suspended.
 */
export async function findLiveGrants(
  executor: Executor,
  grantIds: readonly string[],
  now: Date,
): Promise<(AgentPrincipal | undefined)[]> {
  const found = await selectLiveGrants(executor).execute({ grantIds, now: now.toISOString() })
  const byId = new Map<string, AgentPrincipal>(
    found.map(({ isService, ...agent }) => [
      agent.grant.id,
      isService ? asService(agent) : agent.grant.membersMayAsk ? asMember(agent) : agent,
    ]),
  )
  return grantIds.map((id) => byId.get(id))
}

/** What other members may ask acts with at most the role of a member. */
function asMember(agent: AgentPrincipal): AgentPrincipal {
  return { ...agent, role: lowerOf(agent.role, 'member') }
}

/** The scopes of a client of a service account follow the role of the account, which nobody is asked about again. */
function asService(agent: AgentPrincipal): AgentPrincipal {
  const { grant, role } = agent
  return { ...agent, isService: true, grant: { ...grant, scopes: scopesOfRole(role, grant.scopes) } }
}

/** Records when grants were last used. Retries those whose row is locked. */
export function recordGrantUses(
  executor: Executor,
  uses: readonly Use[],
  retry: (use: Use) => void,
): Promise<void> {
  return writeUses(executor, agentGrants, uses, retry)
}
