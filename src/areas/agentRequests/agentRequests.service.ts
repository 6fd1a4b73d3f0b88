import type { Changes } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace, RequireWorkspaceOfSeed } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { AgentRequestState } from '../../domain/agent-requests.ts'
import { toShownBody } from '../../domain/comments.ts'
import type { Principal } from '../../domain/principal.ts'
import { reasonLengthMax } from '../../domain/seeds.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { parseJson } from '../../kernel/json-text.ts'
import {
  joinRows,
  noRows,
  readPage,
  rowsOf,
  type JsonRows,
  type Page,
  type PageRequest,
} from '../../kernel/pagination.ts'
import { requireLine } from '../../kernel/text.ts'
import {
  endRequest,
  listAskable,
  listRequests,
  lockRequest,
  type RequestFilter,
  type StoredRequest,
} from './agentRequests.repository.ts'
import type { AgentRequest, AskableAgent } from './agentRequests.schemas.ts'
import { lockWaiting, tellAsker, toEventData } from './asking.ts'

export type { AgentRequest, AskableAgent }

/** The filters and the page of a list of requests. */
export interface RequestsRequest extends PageRequest {
  grantId?: string
  state?: AgentRequestState
}

/** What people ask of agents by comments. Its methods throw what access to a workspace throws. */
export interface AgentRequestsService {
  /** Newest first. */
  list(principal: Principal, slug: string, request: RequestsRequest): Promise<Page<AgentRequest>>
  /** Throws `not_found`, also for one on a deleted seed. */
  get(principal: Principal, slug: string, requestId: string): Promise<AgentRequest>
  /** The newest requests of the comments on a seed. */
  listOfSeed(principal: Principal, seedId: string): Promise<AgentRequest[]>
  /** The agents that the caller may ask. */
  askable(principal: Principal, slug: string): Promise<AskableAgent[]>
  /**
   * By who asked, owners and admins. Idempotent. Returns the comment that asked, and its seed. Throws `not_found`, `not_the_author`, and `request_not_waiting` for one that
   * has ended otherwise.
   */
  cancel(
    principal: Principal,
    slug: string,
    requestId: string,
  ): Promise<{ seedId: string; commentId: string }>
  /** What waits for the agent that calls, at most `waitingRequestsMax`. */
  listWaiting(principal: Principal, slug: string): Promise<AgentRequest[]>
  /** By the agent that was asked. Throws `not_found`, `request_not_waiting` and `text_invalid`. */
  decline(principal: Principal, slug: string, input: { requestId: string; reason: string }): Promise<void>
}

export interface AgentRequestsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
  requireWorkspaceOfSeed: RequireWorkspaceOfSeed
}

/** How many requests the page of a seed shows. */
const shownMax = 200

export function createAgentRequestsService(options: AgentRequestsServiceOptions): AgentRequestsService {
  const { db, clock, changes, requireWorkspace, requireWorkspaceOfSeed } = options

  /** A page of requests, newest first. A malformed id finds none. */
  function readRequests(
    page: PageRequest,
    listId: string,
    filter: RequestFilter,
  ): Promise<Page<AgentRequest>> {
    const hasNone = [filter.requestId, filter.grantId].some((id) => id !== undefined && !isId(id))
    return readPage<AgentRequest>(page, {
      listId,
      order: 'newestFirst',
      read: async (range) => (hasNone ? noRows : toShown(await listRequests(db, { ...filter, ...range }))),
      positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
    })
  }

  return {
    async list(principal, slug, { grantId, state, ...page }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'agentRequests.list')
      const filter = { ...(grantId !== undefined && { grantId }), ...(state !== undefined && { state }) }
      const listId = `agentRequests.list ${workspaceId} ${JSON.stringify(filter)}`
      return readRequests(page, listId, { workspaceId, ...filter })
    },

    async get(principal, slug, requestId) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'agentRequests.get')
      const filter = { workspaceId, requestId }
      const { items } = await readRequests({ limit: 1 }, `request ${requestId}`, filter)
      const [found] = parseJson(items)
      if (!found) throw errors.notFound()
      return found
    },

    async listOfSeed(principal, askedId) {
      const { id: workspaceId, seedId } = await requireWorkspaceOfSeed(
        principal,
        askedId,
        'agentRequests.list',
      )
      const filter = { workspaceId, seedId }
      const { items } = await readRequests({ limit: shownMax }, `requests of ${seedId}`, filter)
      return parseJson(items)
    },

    async askable(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'agentRequests.askable')
      const { user, isService = false, grantId } = principal
      if (isService || grantId !== null) return []
      return listAskable(db, { workspaceId, askerId: user.id, now: clock.now() })
    },

    async cancel(principal, slug, requestId) {
      const workspace = await requireWorkspace(principal, slug, 'agentRequests.cancel')
      const mayCancelOthers =
        principal.grantId === null && isAllowed(workspace.role, 'agentRequests.cancelOthers')
      const lock = async (tx: Executor) =>
        isId(requestId) ? lockRequest(tx, workspace.id, requestId) : undefined
      return changes.makeIn(principal, workspace, lock, async ({ now, write, appendEvent }, request) => {
        const { seedId, commentId } = request
        if (request.askedByUserId !== principal.user.id && !mayCancelOthers) throw errors.notTheAuthor()
        if (request.state === 'cancelled') return { seedId, commentId }
        if (request.state !== 'waiting' || request.expiresAt <= now) throw errors.requestNotWaiting()
        write((tx) => endRequest(tx, request, { state: 'cancelled' }))
        write((tx) => tellAsker(tx, request, { state: 'cancelled', actor: principal, now }))
        appendEvent({ type: 'agent_request.cancelled', data: toEventData(request) })
        return { seedId, commentId }
      })
    },

    async listWaiting(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'agentRequests.list')
      const { grantId } = principal
      if (grantId === null) return []
      const filter = { workspaceId, grantId, state: 'waiting', isForAgent: true } as const
      const { items } = await readRequests({}, `requests for ${grantId}`, filter)
      const now = clock.now()
      return parseJson(items).filter(({ expiresAt }) => new Date(expiresAt) > now)
    },

    async decline(principal, slug, { requestId, reason: given }) {
      const reason = requireLine(given, reasonLengthMax, 'reason')
      const workspace = await requireWorkspace(principal, slug, 'comments.create')
      const lock = (tx: Executor) =>
        lockWaiting(tx, principal, { workspaceId: workspace.id, requestId, now: clock.now() })
      await changes.makeIn(principal, workspace, lock, async ({ now, write, appendEvent }, request) => {
        write((tx) => endRequest(tx, request, { state: 'declined', reason }))
        write((tx) => tellAsker(tx, request, { state: 'declined', actor: principal, now }))
        appendEvent({ type: 'agent_request.declined', data: toEventData(request) })
      })
    },
  }
}

/** Stored requests as they are shown, with the names that the mentioned people have now. */
function toShown(rows: JsonRows): JsonRows {
  const shown = rowsOf(rows.text).map((row) => {
    const { mentions, ...request } = JSON.parse(row) as StoredRequest
    const names = new Map(mentions.map(({ userId, name }) => [userId, name]))
    return { text: JSON.stringify({ ...request, text: toShownBody(request.text, names) }), count: 1 }
  })
  return joinRows(shown)
}
