import { and, asc, desc, eq, gt, inArray, isNull, lte, ne, not, or, sql, type SQLWrapper } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { agentRequests } from '../../db/schema/agent-requests.ts'
import { comments } from '../../db/schema/comments.ts'
import { isMembershipOf, memberships } from '../../db/schema/memberships.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { isActivePerson, users } from '../../db/schema/users.ts'
import { pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isBefore } from '../../db/sql/keyset.ts'
import { mentionsOfComment } from '../../db/sql/mentions-of-comment.ts'
import { deletedUserName } from '../../domain/accounts.ts'
import {
  askedConsentVersion,
  ownPersonScope,
  scopesToBeAsked,
  type AgentRequestState,
} from '../../domain/agent-requests.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { AgentRequest } from './agentRequests.schemas.ts'

/** A request as it is stored, with whom its comment mentions. */
export type StoredRequest = AgentRequest & { mentions: { userId: string; name: string }[] }

const people = alias(users, 'people')

/** Whether the agent does not see a request that waits: who asked is suspended. */
const isHidden = sql<boolean>`(${agentRequests.state} = 'waiting' and not ${isActivePerson(agentRequests.askedByUserId)})`

const requestColumns = {
  id: agentRequests.id,
  workspaceId: agentRequests.workspaceId,
  seedId: comments.seedId,
  commentId: agentRequests.commentId,
  evidenceId: comments.evidenceId,
  grantId: agentRequests.grantId,
  agentName: agentRequests.agentName,
  forUserId: agentRequests.forUserId,
  forName: sql<string>`coalesce(${people.name}, ${sql.raw(`'${deletedUserName}'`)})`,
  askedByUserId: agentRequests.askedByUserId,
  askedByName: comments.authorName,
  text: comments.body,
  mentions: mentionsOfComment,
  state: agentRequests.state,
  hidden: isHidden,
  reason: agentRequests.reason,
  answerCommentId: agentRequests.answerCommentId,
  createdAt: agentRequests.createdAt,
  expiresAt: agentRequests.expiresAt,
}

/** What is asked for in a list of requests. */
export interface RequestFilter {
  workspaceId: string
  requestId?: string
  grantId?: string
  state?: AgentRequestState
  /** Only those of comments on this seed. */
  seedId?: string
  /** Without those that agents do not see. */
  isForAgent?: boolean
}

/** The requests of a workspace, newest first, but for those on deleted seeds. Their texts are as they are stored. */
export function listRequests(
  executor: Executor,
  { workspaceId, requestId, grantId, state, seedId, isForAgent = false, ...range }: RequestFilter & PageRange,
): Promise<JsonRows> {
  const rows = executor
    .select(itemColumns<StoredRequest>(requestColumns))
    .from(agentRequests)
    .innerJoin(comments, eq(comments.id, agentRequests.commentId))
    .innerJoin(seeds, eq(seeds.id, comments.seedId))
    .leftJoin(people, eq(people.id, agentRequests.forUserId))
    .where(
      and(
        eq(agentRequests.workspaceId, workspaceId),
        isNull(seeds.deletedAt),
        requestId === undefined ? undefined : eq(agentRequests.id, requestId),
        grantId === undefined ? undefined : eq(agentRequests.grantId, grantId),
        state === undefined ? undefined : eq(agentRequests.state, state),
        seedId === undefined ? undefined : eq(comments.seedId, seedId),
        isForAgent ? not(isHidden) : undefined,
        isBefore(agentRequests.createdAt, agentRequests.id),
      ),
    )
    .orderBy(desc(agentRequests.createdAt), desc(agentRequests.id))
    .limit(pageLimit)
  return readOne(
    selectJsonRows(executor, rows)
      .prepare('')
      .execute({ ...range }),
  )
}

/** An agent that a person may ask. */
export interface AskableRow {
  grantId: string
  agentName: string
  forUserId: string
  forName: string
}

/** The agents of a workspace that a person may ask now. */
const mayBeAsked = (query: { workspaceId: string; askerId: string; now: Date }) =>
  and(
    eq(agentGrants.workspaceId, query.workspaceId),
    isNull(agentGrants.revokedAt),
    gt(agentGrants.expiresAt, query.now),
    isActivePerson(agentGrants.userId),
    sql`${agentGrants.scopes} @> array[${sql.raw(scopesToBeAsked.map((scope) => `'${scope}'`).join())}]::text[]`,
    sql`${agentGrants.consentVersion} >= ${askedConsentVersion}`,
    // An agent answers as its person.
    ne(memberships.role, 'viewer'),
    or(
      eq(agentGrants.userId, query.askerId),
      and(eq(agentGrants.membersMayAsk, true), sql`not ${ownPersonScope} = any(${agentGrants.scopes})`),
    ),
  )

const isOfMembership = isMembershipOf(agentGrants, agentGrants.userId)

const askableColumns = {
  grantId: agentGrants.id,
  agentName: agentGrants.clientName,
  forUserId: agentGrants.userId,
  forName: users.name,
}

/** The agents that a person may ask in a workspace, by name. */
export function listAskable(
  executor: Executor,
  query: { workspaceId: string; askerId: string; now: Date },
): Promise<AskableRow[]> {
  return executor
    .select(askableColumns)
    .from(agentGrants)
    .innerJoin(memberships, isOfMembership)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .where(mayBeAsked(query))
    .orderBy(asc(agentGrants.clientName), asc(users.name), asc(agentGrants.id))
}

/** An agent that is asked, with its end and how many requests wait for it. */
export interface AskedAgent extends AskableRow {
  expiresAt: Date
  waiting: number
}

/**
 * Which of some grants a person may ask, locked until the transaction ends with the person's own membership, so that what
 * is counted stays: first the people, whom deleting them locks first.
 */
export async function lockAskable(
  executor: Executor,
  query: { workspaceId: string; askerId: string; now: Date; grantIds: readonly string[] },
): Promise<AskedAgent[]> {
  const { workspaceId, askerId, now, grantIds } = query
  if (grantIds.length === 0) return []
  const isAsked = and(inArray(agentGrants.id, [...grantIds]), mayBeAsked({ workspaceId, askerId, now }))
  const found = await executor
    .select({ userId: agentGrants.userId })
    .from(agentGrants)
    .innerJoin(memberships, isOfMembership)
    .where(isAsked)
  if (found.length === 0) return []
  await lockPeople(executor, [askerId, ...found.map(({ userId }) => userId)])
  await executor
    .select({ userId: memberships.userId })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, askerId)))
    .for('no key update')
  const locked = await executor
    .select({ ...askableColumns, expiresAt: agentGrants.expiresAt })
    .from(agentGrants)
    .innerJoin(memberships, isOfMembership)
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .where(isAsked)
    .orderBy(asc(agentGrants.id))
    .for('no key update', { of: agentGrants })
  // In a statement of its own, which sees what was committed while this one waited.
  const counted = await executor
    .select({ grantId: agentRequests.grantId, waiting: sql<number>`count(*)::int` })
    .from(agentRequests)
    .where(and(inArray(agentRequests.grantId, [...grantIds]), isWaitingAt(now), not(isHidden)))
    .groupBy(agentRequests.grantId)
  const waiting = new Map(counted.map((each) => [each.grantId, each.waiting]))
  return locked.map((agent) => ({ ...agent, waiting: waiting.get(agent.grantId) ?? 0 }))
}

/** Keeps people until the transaction ends. */
export async function lockPeople(executor: Executor, userIds: readonly string[]): Promise<void> {
  await executor
    .select({ id: users.id })
    .from(users)
    .where(inArray(users.id, [...userIds]))
    .orderBy(asc(users.id))
    .for('key share')
}

const isWaitingAt = (now: Date) => and(eq(agentRequests.state, 'waiting'), gt(agentRequests.expiresAt, now))

/** The times at which a person asked agents in a workspace since a time, oldest first. */
export async function listAskedTimes(
  executor: Executor,
  { workspaceId, askerId, since }: { workspaceId: string; askerId: string; since: Date },
): Promise<Date[]> {
  const { askedByUserId, createdAt } = agentRequests
  const rows = await executor
    .select({ createdAt })
    .from(agentRequests)
    .where(and(eq(askedByUserId, askerId), eq(agentRequests.workspaceId, workspaceId), gt(createdAt, since)))
    .orderBy(asc(createdAt))
  return rows.map((row) => row.createdAt)
}

const insertIntoRequests = prepared((executor) =>
  executor
    .insert(agentRequests)
    .values(placeholdersOf(agentRequests, 'reason', 'answerCommentId', 'isUntold'))
    .prepare('agent_requests_insert'),
)

export async function insertRequest(
  executor: Executor,
  row: Omit<typeof agentRequests.$inferSelect, 'reason' | 'answerCommentId' | 'isUntold'>,
): Promise<void> {
  await insertIntoRequests(executor).execute(row)
}

/** A request that is locked, with what its events say. */
export interface LockedRequest {
  id: string
  workspaceId: string
  commentId: string
  seedId: string
  title: string
  evidenceId: string | null
  grantId: string
  agentName: string
  askedByUserId: string | null
  state: AgentRequestState
  isHidden: boolean
  expiresAt: Date
}

const lockedColumns = {
  id: agentRequests.id,
  workspaceId: agentRequests.workspaceId,
  commentId: agentRequests.commentId,
  seedId: comments.seedId,
  title: seeds.title,
  evidenceId: comments.evidenceId,
  grantId: agentRequests.grantId,
  agentName: agentRequests.agentName,
  askedByUserId: agentRequests.askedByUserId,
  state: agentRequests.state,
  isHidden,
  expiresAt: agentRequests.expiresAt,
}

/** Reads a request of a workspace, but of a deleted seed, and locks it until the transaction ends. */
export async function lockRequest(
  executor: Executor,
  workspaceId: string,
  requestId: string,
): Promise<LockedRequest | undefined> {
  const [found] = await executor
    .select(lockedColumns)
    .from(agentRequests)
    .innerJoin(comments, eq(comments.id, agentRequests.commentId))
    .innerJoin(seeds, and(eq(seeds.id, comments.seedId), isNull(seeds.deletedAt)))
    .where(and(eq(agentRequests.id, requestId), eq(agentRequests.workspaceId, workspaceId)))
    .for('no key update', { of: agentRequests })
  return found
}

const updateState = prepared((executor) =>
  executor
    .update(agentRequests)
    .set({
      state: sql`${sql.placeholder('state')}`,
      reason: sql`${sql.placeholder('reason')}`,
      answerCommentId: sql`${sql.placeholder('answerCommentId')}`,
    })
    .where(
      and(
        eq(agentRequests.workspaceId, sql.placeholder('workspaceId')),
        eq(agentRequests.id, sql.placeholder('id')),
      ),
    )
    .prepare('agent_requests_end'),
)

/** Ends a request that waits. */
export async function endRequest(
  executor: Executor,
  { id, workspaceId }: Pick<LockedRequest, 'id' | 'workspaceId'>,
  {
    state,
    reason = null,
    answerCommentId = null,
  }: { state: AgentRequestState; reason?: string | null; answerCommentId?: string | null },
): Promise<void> {
  await updateState(executor).execute({ id, workspaceId, state, reason, answerCommentId })
}

/** The most that one transaction ends or tells. */
const atOnceMax = 100

/** Some of the requests whose time is over, locked until the transaction ends. Leaves out those of deleted seeds. */
export function lockExpired(executor: Executor, now: Date): Promise<LockedRequest[]> {
  return lockSome(executor, and(eq(agentRequests.state, 'waiting'), lte(agentRequests.expiresAt, now)))
}

/** The same of those that a trigger has cancelled, and whose event is still to be appended. */
export function lockUntold(executor: Executor): Promise<LockedRequest[]> {
  return lockSome(executor, agentRequests.isUntold)
}

function lockSome(executor: Executor, condition: SQLWrapper | undefined): Promise<LockedRequest[]> {
  return executor
    .select(lockedColumns)
    .from(agentRequests)
    .innerJoin(comments, eq(comments.id, agentRequests.commentId))
    .innerJoin(seeds, and(eq(seeds.id, comments.seedId), isNull(seeds.deletedAt)))
    .where(sql`${condition}`)
    .orderBy(asc(agentRequests.expiresAt))
    .limit(atOnceMax)
    .for('no key update', { of: agentRequests, skipLocked: true })
}

/** Notes that the event of a request is appended. */
export async function setTold(executor: Executor, { id }: Pick<LockedRequest, 'id'>): Promise<void> {
  await executor.update(agentRequests).set({ isUntold: false }).where(eq(agentRequests.id, id))
}
