import { isAllowed } from '../../access/permissions.ts'
import type { AccessibleWorkspace, RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Json } from '../../kernel/json-text.ts'
import {
  noRows,
  readPage,
  startOf,
  type Page,
  type PageRange,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../kernel/principal.ts'
import { parseTime } from '../../kernel/times.ts'
import { createEventsWatcher, type WatchListener } from './events-watcher.ts'
import { findEventPlaces, type EventPlace } from './event-places.repository.ts'
import { findEndedWatches, listEvents, readEventDigests, type EventView } from './events.repository.ts'
import { type EventType } from '../../access/event-log.repository.ts'
import type { Event as WorkspaceEvent } from './events.schemas.ts'

export type { EventPlace, EventType, WorkspaceEvent }

/** The filters of the feed. Times are RFC 3339. */
export interface EventsRequest extends PageRequest {
  type?: string
  actorUserId?: string
  targetId?: string
  /** Inclusive. */
  since?: string
  /** Exclusive. */
  until?: string
}

export interface EventsService {
  /** Newest first, without events of invites and grants that the caller may not list. */
  list(principal: Principal, slug: string, request: EventsRequest): Promise<Page<WorkspaceEvent>>
  /** Throws `not_found` for an event of another workspace, and for one that `list` does not show to the caller. */
  get(principal: Principal, slug: string, eventId: string): Promise<Json<WorkspaceEvent>>
  /**
   * What the actors and targets of events are now, by their ids: those that still exist, and that the caller may see. One
   * statement for all.
   */
  findPlaces(
    principal: Principal,
    slug: string,
    events: readonly WorkspaceEvent[],
  ): Promise<ReadonlyMap<string, EventPlace>>
  /**
   * Calls `onChange` within about a second after each new event that is committed from now on, also after those that
   * `list` does not show to the caller, and `onEnd` within about a second after the session or the membership has ended.
   * Returns a function that stops it. For sessions only.
   */
  watch(principal: Principal, slug: string, listener: WatchListener): Promise<() => void>
}

export function createEventsService(options: {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  /** Called once for each outage in which watched events cannot be read. */
  onWatchError: (error: unknown) => void
}): EventsService {
  const { db, clock, requireWorkspace, onWatchError } = options
  const watcher = createEventsWatcher({
    readDigests: (workspaceIds) => readEventDigests(db, workspaceIds),
    findEnded: (members) => findEndedWatches(db, members),
    onReadError: onWatchError,
  })
  return {
    async list(principal, slug, request) {
      const { type, actorUserId, targetId, since, until, ...page } = request
      const workspace = await requireWorkspace(principal, slug, 'events.list')
      const workspaceId = workspace.id
      const filter = {
        ...(type !== undefined && { type }),
        ...(actorUserId !== undefined && { actorUserId }),
        ...(targetId !== undefined && { targetId }),
        ...(since !== undefined && { since: parseTime(since) }),
        ...(until !== undefined && { until: parseTime(until) }),
      }
      const view = viewOf(principal, workspace)
      // A malformed id belongs to nobody and nothing: the list is empty.
      const hasNone = [actorUserId, targetId].some((id) => id !== undefined && !isId(id))
      return readPage<WorkspaceEvent>(page, {
        listId: eventsListId(workspaceId, request),
        order: 'newestFirst',
        read: async (range) =>
          hasNone ? noRows : listEvents(db, { workspaceId, filter, view, ...startAt(range, filter.until) }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async get(principal, slug, eventId) {
      const workspace = await requireWorkspace(principal, slug, 'events.get')
      if (!isId(eventId)) throw errors.notFound()
      const query = { workspaceId: workspace.id, filter: { id: eventId }, view: viewOf(principal, workspace) }
      const { text, count } = await listEvents(db, { ...query, ...startOf.newestFirst, limit: 1 })
      if (count === 0) throw errors.notFound()
      return text as Json<WorkspaceEvent>
    },

    async findPlaces(principal, slug, events) {
      const workspace = await requireWorkspace(principal, slug, 'events.list')
      const { grantsOf } = viewOf(principal, workspace)
      const ids = new Set(
        events.flatMap(({ targetId, actorUserId }) => [targetId ?? [], actorUserId ?? []].flat()),
      )
      if (ids.size === 0) return new Map()
      const query = { workspaceId: workspace.id, ids: [...ids], grantsOf, now: clock.now() }
      return new Map((await findEventPlaces(db, query)).map((place) => [place.targetId, place]))
    },

    async watch(principal, slug, listener) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'events.list')
      const { user, sessionId } = principal
      if (sessionId === null) throw errors.signInRequired()
      return watcher.watch({ workspaceId, userId: user.id, sessionId }, listener)
    },
  }
}

/** Tells the list of a workspace's events with these filters from all others, for its cursors. */
export function eventsListId(workspaceId: string, request: EventsRequest): string {
  const { type, actorUserId, targetId, since, until } = request
  return `events.list ${workspaceId} ${JSON.stringify([type, actorUserId, targetId, since, until])}`
}

/**
 * Begins a range without a cursor at `until`. PostgreSQL may enter an index at either bound of the same column, and from
 * infinity it would read all events after `until`.
 */
function startAt(range: PageRange, until: Date | undefined): PageRange {
  if (range.at !== startOf.newestFirst.at || !until) return range
  return { ...range, at: until.toISOString(), id: startOf.oldestFirst.id }
}

function viewOf({ user }: Principal, { role }: AccessibleWorkspace): EventView {
  return {
    showsInvites: isAllowed(role, 'invites.list'),
    grantsOf: isAllowed(role, 'integrations.listAll') ? undefined : user.id,
  }
}
