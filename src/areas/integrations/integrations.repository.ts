import { and, desc, eq, gt, isNull, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/json-rows.ts'
import { isBefore } from '../../db/keyset.ts'
import { prepared } from '../../db/prepared.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { users } from '../../db/schema/users.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { AgentGrant } from './integrations.schemas.ts'

const selectGrants = prepared((executor) => prepareGrants(executor, 'agent_grants_select_of_workspace'))
const selectGrantsOfPerson = prepared((executor) =>
  prepareGrants(executor, 'agent_grants_select_of_person', eq(agentGrants.userId, sql.placeholder('userId'))),
)

function prepareGrants(executor: Executor, name: string, filter?: SQL) {
  const grants = executor
    .select(
      itemColumns<AgentGrant>({
        id: agentGrants.id,
        clientId: agentGrants.clientId,
        clientName: agentGrants.clientName,
        clientUri: agentGrants.clientUri,
        userId: agentGrants.userId,
        userName: users.name,
        scopes: agentGrants.scopes,
        createdAt: agentGrants.createdAt,
        lastUsedAt: agentGrants.lastUsedAt,
        expiresAt: agentGrants.expiresAt,
      }),
    )
    .from(agentGrants)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .where(
      and(
        eq(agentGrants.workspaceId, sql.placeholder('workspaceId')),
        filter,
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, sql.placeholder('now')),
        isBefore(agentGrants.createdAt, agentGrants.id),
      ),
    )
    .orderBy(desc(agentGrants.createdAt), desc(agentGrants.id))
    .limit(sql.placeholder('limit'))
  return selectJsonRows(executor, grants).prepare(name)
}

/** Grants of a workspace, or of one person there, that are neither revoked nor expired, newest first. */
export function listLiveGrants(
  executor: Executor,
  { userId, now, ...rest }: { workspaceId: string; userId: string | undefined; now: Date } & PageRange,
): Promise<JsonRows> {
  const values = { ...rest, now: now.toISOString() }
  return readOne(
    userId === undefined
      ? selectGrants(executor).execute(values)
      : selectGrantsOfPerson(executor).execute({ ...values, userId }),
  )
}

/** A grant in a workspace, locked until the transaction ends. */
export async function lockGrant(
  executor: Executor,
  workspaceId: string,
  grantId: string,
): Promise<{ userId: string; clientName: string; revokedAt: Date | null } | undefined> {
  const [grant] = await executor
    .select({
      userId: agentGrants.userId,
      clientName: agentGrants.clientName,
      revokedAt: agentGrants.revokedAt,
    })
    .from(agentGrants)
    .where(and(eq(agentGrants.id, grantId), eq(agentGrants.workspaceId, workspaceId)))
    .for('no key update')
  return grant
}

export async function revokeGrant(executor: Executor, grantId: string, revokedAt: Date): Promise<void> {
  await executor.update(agentGrants).set({ revokedAt }).where(eq(agentGrants.id, grantId))
}
