import type { WorkspaceChangeContext } from '../../access/change.ts'
import type { Executor } from '../../db/client.ts'
import {
  agentRequestMs,
  requestsCountedMs,
  requestsOfAskerMax,
  waitingRequestsMax,
} from '../../domain/agent-requests.ts'
import type { NotificationDataByKind } from '../../domain/notifications.ts'
import type { Principal } from '../../domain/principal.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { notifyMembers } from '../notifications/notify.repository.ts'
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

type EndedState = NotificationDataByKind['agent_request']['state']

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

/**
 * Has a new comment ask agents. With the writes of the change, an event for each, and a notification for their people.
 * Returns the requests.
 */
export function ask(
  { now, write, appendEvent }: WorkspaceChangeContext,
  asker: Principal,
  comment: CommentOfRequest,
  agents: readonly AskedAgent[],
): Pick<LockedRequest, 'id' | 'grantId' | 'agentName'>[] {
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
    const { id, grantId, agentName, forUserId } = row
    write((tx) => insertRequest(tx, row))
    const about = { workspaceId: row.workspaceId, seedId: comment.seedId, commentId: comment.id }
    const data = { agentRequestId: id, grantId, clientName: agentName }
    const notice = { kind: 'agent_asked', data, actor: asker, at: now, ...about } as const
    write((tx) => notifyMembers(tx, notice, [forUserId]))
    appendEvent({
      type: 'agent_request.created',
      data: toEventData({ ...comment, id, commentId: comment.id, grantId, agentName }),
    })
  }
  return rows.map(({ id, grantId, agentName }) => ({ id, grantId, agentName }))
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

/** Has a new comment answer a request. After the comment was written. With `isTold`, who asked is told otherwise. */
export function answer(
  { now, write, appendEvent }: WorkspaceChangeContext,
  actor: Principal,
  request: LockedRequest,
  { answerCommentId, isTold }: { answerCommentId: string; isTold: boolean },
): void {
  write((tx) => endRequest(tx, request, { state: 'answered', answerCommentId }))
  if (!isTold)
    write((tx) =>
      tellAsker(tx, { ...request, commentId: answerCommentId }, { state: 'answered', actor, now }),
    )
  appendEvent({ type: 'agent_request.answered', data: { ...toEventData(request), answerCommentId } })
}

/** Tells who asked what became of it: not if they did it themselves, but if their agent did. */
export async function tellAsker(
  tx: Executor,
  request: Pick<
    LockedRequest,
    'id' | 'workspaceId' | 'seedId' | 'commentId' | 'grantId' | 'agentName' | 'askedByUserId'
  >,
  { state, actor, now }: { state: EndedState; actor: Principal | null; now: Date },
): Promise<void> {
  const { id, workspaceId, seedId, commentId, grantId, agentName, askedByUserId } = request
  if (askedByUserId === null) return
  const data = { agentRequestId: id, grantId, clientName: agentName, state }
  const about = { workspaceId, seedId, commentId, actor, at: now, tellsActor: actor?.grantId === grantId }
  await notifyMembers(tx, { kind: 'agent_request', data, ...about }, [askedByUserId])
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
