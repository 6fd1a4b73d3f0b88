import type { WorkspaceChangeContext } from '../../access/change.ts'
import type { Executor } from '../../db/client.ts'
import {
  agentRequestMs,
  requestsCountedMs,
  requestsOfAskerMax,
  waitingRequestsMax,
} from '../../domain/agent-requests.ts'
import type { Principal } from '../../domain/principal.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import {
  endRequest,
  insertRequest,
  listAskedTimes,
  lockAskable,
  lockPeople,
  lockRequest,
  type AskedAgent,
  type LockedRequest,
} from './agentRequests.repository.ts'

/** A comment that asks, or that answers. */
interface CommentOfRequest {
  id: string
  workspaceId: string
  seedId: string
  title: string
  evidenceId: string | null
}

/** Whether what the caller writes asks the agents that it names: only what a person writes does. */
export function mayAsk({ source, grantId, isService = false }: Principal): boolean {
  return grantId === null && source !== 'mcp' && !isService
}

/**
 * Which of some grants the caller may ask, locked until the transaction ends. Throws `agent_busy` if one of them has as many
 * requests as may wait, and `ask_limit` if the caller has asked as often as a person may.
 */
export async function lockAsked(
  tx: Executor,
  { user }: Principal,
  { workspaceId, grantIds, now }: { workspaceId: string; grantIds: readonly string[]; now: Date },
): Promise<AskedAgent[]> {
  const asked = await lockAskable(tx, { workspaceId, askerId: user.id, now, grantIds })
  if (asked.length === 0) return []
  if (asked.some(({ waiting }) => waiting >= waitingRequestsMax)) throw errors.agentBusy()
  const since = new Date(now.getTime() - requestsCountedMs)
  const times = await listAskedTimes(tx, { workspaceId, askerId: user.id, since })
  const excess = times.length + asked.length - requestsOfAskerMax
  if (excess > 0) {
    // Once so many of the oldest do not count any more. A comment that alone asks too many has to wait for all.
    const freed = times[Math.min(excess, times.length) - 1] ?? now
    const ms = freed.getTime() - since.getTime()
    throw errors.askLimit({ retryAfterSeconds: Math.max(1, Math.ceil(ms / 1000)) })
  }
  return asked
}

/** Has a new comment ask agents. With the writes of the change, and an event for each. */
export function ask(
  { now, write, appendEvent }: WorkspaceChangeContext,
  asker: Principal,
  comment: CommentOfRequest,
  agents: readonly AskedAgent[],
): void {
  if (agents.length === 0) return
  const latest = now.getTime() + agentRequestMs
  const rows = agents.map(({ grantId, agentName, forUserId, expiresAt }) => ({
    id: createId(),
    workspaceId: comment.workspaceId,
    commentId: comment.id,
    grantId,
    agentName,
    forUserId,
    askedByUserId: asker.user.id,
    state: 'waiting' as const,
    createdAt: now,
    // It does not wait for an agent that has no access any more.
    expiresAt: new Date(Math.min(latest, expiresAt.getTime())),
  }))
  for (const row of rows) {
    const { id, grantId, agentName } = row
    write((tx) => insertRequest(tx, row))
    appendEvent({
      type: 'agent_request.created',
      data: toEventData({ ...comment, id, commentId: comment.id, grantId, agentName }),
    })
  }
}

/**
 * The request that an agent answers or declines, locked until the transaction ends. Throws `not_found` unless it was asked,
 * and `request_not_waiting`.
 */
export async function lockWaiting(
  tx: Executor,
  { user, grantId }: Principal,
  { workspaceId, requestId, now }: { workspaceId: string; requestId: string; now: Date },
): Promise<LockedRequest> {
  // The author of the answer first, whom deleting them locks before it cancels what waits.
  if (grantId !== null) await lockPeople(tx, [user.id])
  const request = isId(requestId) ? await lockRequest(tx, workspaceId, requestId) : undefined
  if (request?.grantId !== grantId) throw errors.notFound()
  // No agent is told of a suspension.
  const isEnded = request.state !== 'waiting' || request.expiresAt <= now
  if (isEnded || request.isHidden) throw errors.requestNotWaiting()
  return request
}

/** Has a new comment answer a request. After the comment was written. */
export function answer(
  { write, appendEvent }: WorkspaceChangeContext,
  request: LockedRequest,
  answerCommentId: string,
): void {
  write((tx) => endRequest(tx, request, { state: 'answered', answerCommentId }))
  appendEvent({ type: 'agent_request.answered', data: { ...toEventData(request), answerCommentId } })
}

/** What events say of a request. */
export function toEventData(
  request: Pick<
    LockedRequest,
    'id' | 'commentId' | 'seedId' | 'title' | 'evidenceId' | 'grantId' | 'agentName'
  >,
) {
  const { id, commentId, seedId, title, evidenceId, grantId, agentName } = request
  return { agentRequestId: id, commentId, seedId, title, evidenceId, grantId, clientName: agentName }
}
