import { and, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readItem, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { agentCallLog, agentCalls, agentGrantAddresses, agentGrants } from '../../db/schema/agent-grants.ts'
import { events } from '../../db/schema/events.ts'
import { oauthRecords } from '../../db/schema/oauth.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { consentVersion } from '../../domain/agent.ts'
import { mayServeMembers } from '../../domain/agent-requests.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { AgentCall, AgentGrant } from './grants.schemas.ts'

const selectGrants = prepared((executor) => prepareGrants(executor, 'agent_grants_select_of_workspace'))
const selectGrantsOfPerson = prepared((executor) =>
  prepareGrants(executor, 'agent_grants_select_of_person', eq(agentGrants.userId, sql.placeholder('userId'))),
)

/** The columns of a grant, in a query that joins its person. */
const grantColumns = {
  id: agentGrants.id,
  clientId: agentGrants.clientId,
  clientName: agentGrants.clientName,
  clientUri: agentGrants.clientUri,
  userId: agentGrants.userId,
  userName: users.name,
  scopes: agentGrants.scopes,
  membersMayAsk: agentGrants.membersMayAsk,
  createdAt: agentGrants.createdAt,
  lastUsedAt: agentGrants.lastUsedAt,
  expiresAt: agentGrants.expiresAt,
  assertedIssuer: agentGrants.assertedIssuer,
}

function prepareGrants(executor: Executor, name: string, filter?: SQL) {
  const grants = selectLiveGrants(executor, and(filter, isBefore(agentGrants.createdAt, agentGrants.id)))
    .orderBy(desc(agentGrants.createdAt), desc(agentGrants.id))
    .limit(pageLimit)
  return selectJsonRows(executor, grants).prepare(name)
}

function selectLiveGrants(executor: Executor, filter: SQL | undefined) {
  return executor
    .select(itemColumns<AgentGrant>(grantColumns))
    .from(agentGrants)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .where(
      and(
        eq(agentGrants.workspaceId, sql.placeholder('workspaceId')),
        filter,
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, sql.placeholder('now')),
      ),
    )
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

const selectLiveGrant = prepared((executor) =>
  selectJsonRows(
    executor,
    selectLiveGrants(executor, eq(agentGrants.id, sql.placeholder('grantId'))),
  ).prepare('agent_grants_select_live_by_id'),
)

/** A grant of a workspace that is neither revoked nor expired. */
export async function findLiveGrant(
  executor: Executor,
  { now, ...input }: { workspaceId: string; grantId: string; now: Date },
): Promise<AgentGrant | undefined> {
  return (await readItem(selectLiveGrant(executor).execute({ ...input, now: now.toISOString() }))) as
    AgentGrant | undefined
}

export type GrantToChange = Pick<
  typeof agentGrants.$inferSelect,
  | 'userId'
  | 'clientId'
  | 'clientName'
  | 'scopes'
  | 'consentVersion'
  | 'membersMayAsk'
  | 'revokedAt'
  | 'expiresAt'
  | 'assertedIssuer'
  | 'mayReturn'
>

/** A grant in a workspace. With `isLocked` it is locked until the transaction ends. */
export async function findGrant(
  executor: Executor,
  workspaceId: string,
  grantId: string,
  { isLocked = false } = {},
): Promise<GrantToChange | undefined> {
  const query = executor
    .select({
      userId: agentGrants.userId,
      clientId: agentGrants.clientId,
      clientName: agentGrants.clientName,
      scopes: agentGrants.scopes,
      consentVersion: agentGrants.consentVersion,
      membersMayAsk: agentGrants.membersMayAsk,
      revokedAt: agentGrants.revokedAt,
      expiresAt: agentGrants.expiresAt,
      assertedIssuer: agentGrants.assertedIssuer,
      mayReturn: agentGrants.mayReturn,
    })
    .from(agentGrants)
    .where(and(eq(agentGrants.id, grantId), eq(agentGrants.workspaceId, workspaceId)))
  const [grant] = await (isLocked ? query.for('no key update') : query)
  return grant
}

/** A grant with what is shown of it, also one that has ended. */
export async function findGrantDetails(executor: Executor, workspaceId: string, grantId: string) {
  const [grant] = await executor
    .select({
      ...grantColumns,
      consentVersion: agentGrants.consentVersion,
      revokedAt: agentGrants.revokedAt,
    })
    .from(agentGrants)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .where(and(eq(agentGrants.id, grantId), eq(agentGrants.workspaceId, workspaceId)))
  return grant
}

/** Where tokens of a grant were fetched. */
export interface GrantAddress {
  /** An IPv4 address, or the /64 of an IPv6 address. */
  address: string
  firstSeenAt: Date
  lastSeenAt: Date
}

/** The addresses from which the tokens of a grant were fetched, the latest first. */
export async function listGrantAddresses(
  executor: Executor,
  grantId: string,
  limit: number,
): Promise<GrantAddress[]> {
  const { address, firstSeenAt, lastSeenAt } = agentGrantAddresses
  return executor
    .select({ address, firstSeenAt, lastSeenAt })
    .from(agentGrantAddresses)
    .where(eq(agentGrantAddresses.grantId, grantId))
    .orderBy(desc(lastSeenAt), address)
    .limit(limit)
}

const selectCalls = prepared((executor) => {
  const { id, calledAt, tool, code } = agentCallLog
  const calls = executor
    // Of a seed that the agent named nothing is shown unless it is of this workspace.
    .select(itemColumns<AgentCall>({ id, calledAt, tool, code, seedId: seeds.id, seedTitle: seeds.title }))
    .from(agentCallLog)
    .leftJoin(
      seeds,
      and(
        eq(seeds.id, agentCallLog.seedId),
        eq(seeds.workspaceId, sql.placeholder('workspaceId')),
        isNull(seeds.deletedAt),
      ),
    )
    .where(and(eq(agentCallLog.grantId, hiddenParameter('grantId', 'uuid')), isBefore(calledAt, id)))
    .orderBy(desc(calledAt), desc(id))
    .limit(pageLimit)
  return selectJsonRows(executor, calls).prepare('agent_call_log_select')
})

/** The calls of a grant of a workspace, newest first. */
export function listCalls(
  executor: Executor,
  values: { workspaceId: string; grantId: string } & PageRange,
): Promise<JsonRows> {
  return readOne(selectCalls(executor).execute({ ...values }))
}

/** Lets a grant end later, with all that ends with it: the record of the OAuth server, and the registration of the client. */
export async function prolongGrant(
  executor: Executor,
  grant: { id: string; clientId: string },
  { expiresAt, now }: { expiresAt: Date; now: Date },
): Promise<void> {
  await executor.update(agentGrants).set({ expiresAt }).where(eq(agentGrants.id, grant.id))
  const seconds = Math.floor(expiresAt.getTime() / 1000)
  await executor
    .update(oauthRecords)
    .set({
      expiresAt,
      payload: sql`jsonb_set(${oauthRecords.payload}, '{exp}', to_jsonb(${seconds}::bigint))`,
    })
    .where(
      and(
        eq(oauthRecords.kind, 'Grant'),
        eq(oauthRecords.key, grant.id),
        lt(oauthRecords.expiresAt, expiresAt),
      ),
    )
  // Clients are kept for a time after somebody last gave them access.
  await executor
    .update(oauthRecords)
    .set({ grantedAt: now })
    .where(and(eq(oauthRecords.kind, 'Client'), eq(oauthRecords.key, grant.clientId)))
}

export async function revokeGrant(executor: Executor, grantId: string, revokedAt: Date): Promise<void> {
  await executor.update(agentGrants).set({ revokedAt }).where(eq(agentGrants.id, grantId))
}

/** Sets whether other members may ask the agent of a grant. */
export async function updateAsking(
  executor: Executor,
  grantId: string,
  membersMayAsk: boolean,
): Promise<void> {
  await executor.update(agentGrants).set({ membersMayAsk }).where(eq(agentGrants.id, grantId))
}

export async function updateGrantScopes(
  executor: Executor,
  grantId: string,
  scopes: readonly string[],
): Promise<void> {
  await executor
    .update(agentGrants)
    // The person has read what the scopes mean now.
    .set({ scopes: [...scopes], consentVersion, ...(!mayServeMembers(scopes) && { membersMayAsk: false }) })
    .where(eq(agentGrants.id, grantId))
}

/** The names of the clients of some grants of a workspace, by grant, also of those that have ended. */
export async function findClientNames(
  executor: Executor,
  query: {
    workspaceId: string
    /** Only the grants of this person. */
    userId: string | undefined
    grantIds: readonly string[]
  },
): Promise<Map<string, string>> {
  const { workspaceId, userId, grantIds } = query
  const rows = await executor
    .select({ id: agentGrants.id, clientName: agentGrants.clientName })
    .from(agentGrants)
    .where(
      and(
        eq(agentGrants.workspaceId, workspaceId),
        userId === undefined ? undefined : eq(agentGrants.userId, userId),
        inArray(agentGrants.id, [...grantIds]),
      ),
    )
  return new Map(rows.map(({ id, clientName }) => [id, clientName]))
}

/** An agent that has lost its access. */
export interface EndedAgent {
  clientName: string
  endedAt: Date
}

const endedAgentsMax = 5

const selectEnded = prepared((executor) => {
  const endedAt = sql<Date>`coalesce(${agentGrants.revokedAt}, ${agentGrants.expiresAt})`
  const now = sql.placeholder('now')
  return executor
    .select({ clientName: agentGrants.clientName, endedAt: endedAt.mapWith(agentGrants.expiresAt) })
    .from(agentGrants)
    .where(
      and(
        eq(agentGrants.workspaceId, sql.placeholder('workspaceId')),
        eq(agentGrants.userId, sql.placeholder('userId')),
        // The person could not connect it again.
        isNull(agentGrants.assertedIssuer),
        sql`${endedAt} between ${sql.placeholder('since')} and ${now}`,
        subquery(sql`not exists (
          select from ${agentGrants} as later
          where later.workspace_id = ${agentGrants.workspaceId} and later.user_id = ${agentGrants.userId}
            and later.client_id = ${agentGrants.clientId} and later.created_at > ${agentGrants.createdAt}
        )`),
        subquery(sql`not exists (
          select from ${events}
          where ${events.workspaceId} = ${agentGrants.workspaceId} and ${events.targetId} = ${agentGrants.id}
            and ${events.type} = 'integration.revoked' and ${events.actorUserId} = ${agentGrants.userId}
        )`),
      ),
    )
    .orderBy(desc(endedAt), desc(agentGrants.id))
    .limit(endedAgentsMax)
    .prepare('agent_grants_select_ended')
})

/** The agents of a person whose access to a workspace ended since a time, except those that the person revoked. */
export function listEndedAgents(
  executor: Executor,
  { workspaceId, userId, now, since }: { workspaceId: string; userId: string; now: Date; since: Date },
): Promise<EndedAgent[]> {
  return selectEnded(executor).execute({
    workspaceId,
    userId,
    now: now.toISOString(),
    since: since.toISOString(),
  })
}

/** The use of a tool by an agent. */
export interface ToolUse {
  grantId: string
  tool: string
  calls: number
  failures: number
  lastCalledAt: Date
  /** The code of the last error; null without one. */
  lastFailure: string | null
  lastFailureAt: Date | null
}

/** The calls of the tools of some grants of a workspace since a day, the most called first. */
export async function listToolUses(
  executor: Executor,
  {
    workspaceId,
    userId,
    grantIds,
    since,
  }: {
    workspaceId: string
    /** Only the grants of this person. */
    userId: string | undefined
    grantIds: readonly string[]
    since: Date
  },
): Promise<ToolUse[]> {
  const calls = sql<number>`sum(${agentCalls.calls})::int`
  const newestFailure = sql`order by ${agentCalls.lastFailureAt} desc nulls last`
  return executor
    .select({
      grantId: agentCalls.grantId,
      tool: agentCalls.tool,
      calls,
      failures: sql<number>`sum(${agentCalls.failures})::int`,
      lastCalledAt: sql`max(${agentCalls.lastCalledAt})`.mapWith(agentCalls.lastCalledAt),
      lastFailure: sql<string | null>`(array_agg(${agentCalls.lastFailure} ${newestFailure}))[1]`,
      lastFailureAt: sql`max(${agentCalls.lastFailureAt})`.mapWith(agentCalls.lastFailureAt),
    })
    .from(agentCalls)
    .innerJoin(agentGrants, eq(agentGrants.id, agentCalls.grantId))
    .where(
      and(
        eq(agentGrants.workspaceId, workspaceId),
        userId === undefined ? undefined : eq(agentGrants.userId, userId),
        inArray(agentCalls.grantId, [...grantIds]),
        gte(agentCalls.day, since.toISOString().slice(0, 10)),
      ),
    )
    .groupBy(agentCalls.grantId, agentCalls.tool)
    .orderBy(desc(calls), agentCalls.tool)
}

/** An agent whose access by assertions was revoked, until its person allows it again. */
export interface RevokedAgent {
  id: string
  clientName: string
  revokedAt: Date
}

/** The condition of access by assertions that was revoked and does not return before its person allows it. */
const isKeptAway = and(
  isNotNull(agentGrants.assertedIssuer),
  isNotNull(agentGrants.revokedAt),
  eq(agentGrants.mayReturn, false),
)

/** The agents of a person in a workspace that assertions give no access, since it was revoked, the latest first. */
export async function listRevokedAgents(
  executor: Executor,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<RevokedAgent[]> {
  const { id, clientName, revokedAt } = agentGrants
  return executor
    .select({ id, clientName, revokedAt: sql<Date>`${revokedAt}`.mapWith(revokedAt) })
    .from(agentGrants)
    .where(and(eq(agentGrants.workspaceId, workspaceId), eq(agentGrants.userId, userId), isKeptAway))
    .orderBy(desc(revokedAt), desc(id))
}

/** Lets the next assertion give an agent the access again that was revoked. */
export async function letReturn(executor: Executor, grantId: string): Promise<void> {
  await executor.update(agentGrants).set({ mayReturn: true }).where(eq(agentGrants.id, grantId))
}

/**
 * Deletes the grants that were revoked, or ended, before a time, with what is kept of their calls. Those stay by which a person
 * keeps an agent away.
 */
export async function deleteEndedGrants(executor: Executor, before: Date): Promise<void> {
  const endedAt = sql`least(${agentGrants.revokedAt}, ${agentGrants.expiresAt})`
  await executor
    .delete(agentGrants)
    .where(and(sql`${endedAt} < ${before.toISOString()}`, sql`(${isKeptAway}) is not true`))
}
