import { isAllowed } from '../../access/permissions.ts'
import {
  findAccessAgain,
  type AccessibleWorkspace,
  type RequireWorkspace,
} from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import {
  decodeFeedCursor,
  encodeFeedCursor,
  startOfFeed,
  type FeedPosition,
} from '../../domain/event-cursors.ts'
import { parseJson, type Json } from '../../kernel/json-text.ts'
import {
  cutRows,
  lastRow,
  noRows,
  pageLimitDefault,
  readPage,
  startOf,
  type JsonRows,
  type Page,
  type PageRange,
  type PageRequest,
} from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { parseTime } from '../../kernel/times.ts'
import type { Clock } from '../../kernel/clock.ts'
import { hasNoSeeds, toFilterOfSeeds, type AskedOfSeeds } from '../seeds/seed-lists.ts'
import { readEventPositions, readFeed, type FeedRows } from './event-feed.repository.ts'
import { createEventStreams, streamBatchMax, type OpenStream, type StreamListener } from './event-streams.ts'
import { createEventsWatcher, type WatchListener } from './events-watcher.ts'
import { findEventTargets, type EventTarget } from './event-targets.repository.ts'
import { findEndedWatches, listEvents, type EventFilter, type EventView } from './events.repository.ts'
import { requireEventTypes, splitEventTypes } from '../../domain/event-types.ts'
import { seedIdOf, type EventType } from '../../domain/events.ts'
import type { Event as WorkspaceEvent, EventChanges } from './events.schemas.ts'

export type { EventTarget, EventType, WorkspaceEvent }

/** The filters of the feed, also by what the seeds are now that events are about. Times are RFC 3339. */
export interface EventsRequest extends PageRequest, SharedFilters, AskedOfSeeds {
  type?: string
  actorUserId?: string
  targetId?: string
  /** Inclusive. A date without a time is its start in UTC. */
  since?: string
  /** Exclusive. */
  until?: string
}

/** Filters of `list`, `changes` and `stream`. */
interface SharedFilters {
  /** Only these types; empty: all. Each text may have several, separated by commas. One that does not exist is refused. */
  types?: readonly string[]
  /** Not these types. Those that do not exist are ignored. */
  notTypes?: readonly string[]
  /** Only events about this seed. */
  seedId?: string
  /** Only events of this agent. */
  grantId?: string
}

/** What a reader asks of the feed of changes. */
export interface ChangesRequest extends SharedFilters {
  /** A cursor, or `now`. Absent: from the first event. */
  after?: string
  /** 1 to 200, by default 100. */
  limit?: number
}

/** What a reader asks of a stream. */
export interface StreamRequest extends SharedFilters {
  /** As of `changes`. */
  after?: string
  /** The parameter or header that `after` is from. */
  field: string
  /** The caller as they are now, with what they ask for; undefined when the credential is no longer valid. */
  authenticateAgain: () => Promise<Principal | undefined>
}

export interface EventsService {
  /**
   * Newest first, without events of invites and grants that the caller may not list. Throws `event_type_unknown`, as
   * `changes` and `stream` do.
   */
  list(principal: Principal, slug: string, request: EventsRequest): Promise<Page<WorkspaceEvent>>
  /** Throws `not_found` for an event of another workspace, and for one that `list` does not show to the caller. */
  get(principal: Principal, slug: string, eventId: string): Promise<Json<WorkspaceEvent>>
  /**
   * The events behind a cursor, oldest first: of those that `list` shows to the caller each exactly once. Throws
   * `cursor_invalid`, and `cursor_expired` or `cursor_unknown` when the event of the cursor no longer exists.
   */
  changes(principal: Principal, slug: string, request: ChangesRequest): Promise<Json<EventChanges>>
  /**
   * Sends the events behind a cursor, as `changes` returns them, and those that happen from then on within about a second,
   * until it is stopped. What the caller may see is asked of `authenticateAgain` with each batch and once a minute. Throws
   * as `changes` does.
   */
  stream(
    principal: Principal,
    slug: string,
    request: StreamRequest,
    listener: StreamListener,
  ): Promise<OpenStream>
  /**
   * What the ids that events have are now, by these ids: those that still exist, and that the caller may see. One
   * statement for all.
   */
  findTargets(
    principal: Principal,
    slug: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, EventTarget>>
  /** The position of the newest event when the request began, for `watch`; 0 without events. For sessions only. */
  getPosition(principal: Principal, slug: string): Promise<number>
  /**
   * Calls `onChange` if there are events behind the position `after`, within about a second after each later one, also
   * after those that `list` does not show to the caller, and `onEnd` within about a second after the session or the
   * membership has ended. Without `after`, it watches from now on. Returns a function that stops it. For sessions only.
   */
  watch(principal: Principal, slug: string, listener: WatchListener, after?: number): Promise<() => void>
  /**
   * Calls back with the position of the newest event of a workspace about once a second, also if there is no new one. Asks
   * for no permission: for what asks itself before it tells anybody. Returns a function that stops it.
   */
  followPositions(workspaceId: string, onPosition: (last: number) => void): () => void
}

export function createEventsService(options: {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  /** Called once for each outage in which watched events cannot be read. */
  onWatchError: (error: unknown) => void
  /** What the URLs of seeds begin with. */
  seedUrlPrefix: string
  pictures: Pick<PictureStore, 'urlPrefix'>
  /** How often watched events are read. Default: once a second. */
  pollEveryMs?: number | undefined
}): EventsService {
  const { db, clock, requireWorkspace, onWatchError, seedUrlPrefix, pictures, pollEveryMs } = options
  const watcher = createEventsWatcher({
    readPositions: (workspaceIds) => readEventPositions(db, workspaceIds),
    findEnded: (members) => findEndedWatches(db, members),
    onReadError: onWatchError,
    pollEveryMs,
  })
  const streams = createEventStreams({
    watcher,
    read: (query) => readFeed(db, { ...query, seedUrlPrefix }),
    onReadError: onWatchError,
  })

  /** Reads the events behind a cursor. Throws `cursor_invalid`, `cursor_expired` and `cursor_unknown`. */
  async function readBehind(
    query: Omit<Parameters<typeof readFeed>[1], 'after' | 'seedUrlPrefix'>,
    { after, field }: { after: string | undefined; field: string },
  ): Promise<FeedRows> {
    const { workspaceId } = query
    const from = readCursor(workspaceId, after, field)
    const rows = await readFeed(db, { ...query, seedUrlPrefix, after: from?.position })
    if (from === undefined || from.id === rows.after.id) return rows
    // A backup from before the event was restored.
    if (from.position === rows.after.position) throw errors.cursorUnknown()
    // Without a cursor it begins with what is kept.
    if (after !== undefined) throw errors.cursorExpired()
    return rows
  }

  return {
    async list(principal, slug, request) {
      const { actorUserId, targetId, seedId, grantId, since, until } = request
      const workspace = await requireWorkspace(principal, slug, 'events.list')
      const workspaceId = workspace.id
      const seeds = toFilterOfSeeds(request, { now: clock.now(), userId: principal.user.id })
      const filter = {
        ...toTypes(request),
        ...(actorUserId !== undefined && { actorUserId }),
        ...(targetId !== undefined && { targetId }),
        ...(seedId !== undefined && { seedId }),
        ...(grantId !== undefined && { grantId }),
        ...(seeds && { seeds }),
        ...(since !== undefined && { since: parseTime(since) }),
        ...(until !== undefined && { until: parseTime(until) }),
      }
      const query = { workspaceId, filter, view: viewOf(principal, workspace), seedUrlPrefix }
      // A malformed id belongs to nobody and nothing: the list is empty.
      const ids = [actorUserId, targetId, seedId, grantId]
      const hasNone = ids.some((id) => id !== undefined && !isId(id)) || (seeds && hasNoSeeds(seeds))
      return readPage<WorkspaceEvent>(request, {
        listId: eventsListId(workspaceId, request),
        order: 'newestFirst',
        read: async (range) =>
          hasNone ? noRows : listEvents(db, { ...query, ...startAt(range, filter.until) }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async get(principal, slug, eventId) {
      const workspace = await requireWorkspace(principal, slug, 'events.get')
      if (!isId(eventId)) throw errors.notFound()
      const view = viewOf(principal, workspace)
      const query = { workspaceId: workspace.id, filter: { id: eventId }, view, seedUrlPrefix }
      const { text, count } = await listEvents(db, { ...query, ...startOf.newestFirst, limit: 1 })
      if (count === 0) throw errors.notFound()
      return text as Json<WorkspaceEvent>
    },

    async changes(principal, slug, request) {
      const { after, seedId, grantId, limit = pageLimitDefault } = request
      const workspace = await requireWorkspace(principal, slug, 'events.changes')
      const { id: workspaceId } = workspace
      const filter = {
        ...toTypes(request),
        // A malformed id belongs to nothing.
        ...(seedId !== undefined && { seedId: isId(seedId) ? seedId : noId }),
        ...(grantId !== undefined && { grantId: isId(grantId) ? grantId : noId }),
      }
      const query = { workspaceId, filter, view: viewOf(principal, workspace), limit }
      const rows = await readBehind(query, { after, field: 'after' })
      const { text, count } = cutRows(rows, limit)
      const reached = positionBehind(rows, { text, count, limit })
      const cursor = encodeFeedCursor(workspaceId, reached)
      const hasMore = reached.position < rows.last
      return `{"events":[${text}],"cursor":${JSON.stringify(cursor)},"hasMore":${hasMore}}` as Json<EventChanges>
    },

    async stream(principal, slug, { after, field, authenticateAgain, ...filter }, listener) {
      const workspace = await requireWorkspace(principal, slug, 'events.stream')
      const workspaceId = workspace.id
      const isWanted = toCondition(filter)
      const view = viewOf(principal, workspace)
      const query = { workspaceId, filter: {}, view, limit: streamBatchMax }
      const rows = await readBehind(query, { after, field })
      const check = async () => {
        const call = await authenticateAgain()
        const access = call && findAccessAgain(call, workspaceId, 'events.stream')
        return access && viewOf(call, access)
      }
      return streams.open({ workspaceId, view, isWanted, check, listener }, rows)
    },

    async findTargets(principal, slug, ids) {
      const workspace = await requireWorkspace(principal, slug, 'events.list')
      const { grantsOf } = viewOf(principal, workspace)
      if (ids.length === 0) return new Map()
      const query = { workspaceId: workspace.id, ids, grantsOf, pictureUrlPrefix: pictures.urlPrefix }
      return new Map((await findEventTargets(db, query)).map((target) => [target.id, target]))
    },

    async getPosition(principal, slug) {
      const { lastPosition } = await requireWorkspace(principal, slug, 'events.list')
      if (lastPosition === undefined) throw errors.signInRequired()
      return lastPosition
    },

    async watch(principal, slug, listener, after) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'events.list')
      const { user, sessionId } = principal
      if (sessionId === null) throw errors.signInRequired()
      return watcher.watch({ workspaceId, userId: user.id, sessionId }, listener, after)
    },

    followPositions: (workspaceId, onPosition) => watcher.follow(workspaceId, onPosition),
  }
}

/** The position of a cursor, from the beginning without one; undefined for `now`. Throws `cursor_invalid`. */
function readCursor(workspaceId: string, after: string | undefined, field: string): FeedPosition | undefined {
  if (after === undefined) return startOfFeed(workspaceId)
  return after === 'now' ? undefined : decodeFeedCursor(workspaceId, after, field)
}

/** The position behind the rows of a page; if it is not full, behind all that were looked at. */
function positionBehind(
  { count: found, positions, until }: FeedRows,
  page: JsonRows & { limit: number },
): FeedPosition {
  if (page.count === found && found < page.limit) return until
  const { id } = parseJson(lastRow(page.text) as Json<WorkspaceEvent>)
  return { position: Number(positions[page.count - 1]), id }
}

/** Tells the list of a workspace's events with these filters from all others, for its cursors. */
export function eventsListId(workspaceId: string, request: EventsRequest): string {
  const filters = Object.entries(request)
    .filter(([name, value]) => name !== 'limit' && name !== 'cursor' && value !== undefined)
    .sort()
  return `events.list ${workspaceId} ${JSON.stringify(filters)}`
}

/** An id that nothing has. */
const noId = startOf.oldestFirst.id

/** What is left of the filters by types when all have been applied. Throws `event_type_unknown`. */
function toTypes({ type, types = [], notTypes }: EventsRequest): Pick<EventFilter, 'types' | 'notTypes'> {
  const only = type === undefined ? undefined : [type]
  const several = types.length === 0 ? undefined : requireEventTypes(splitEventTypes(types), 'types')
  const both = several && only ? several.filter((each) => each === type) : (several ?? only)
  return {
    ...(both && { types: both }),
    // A type of a later version is left out already.
    ...(notTypes && { notTypes: splitEventTypes(notTypes) }),
  }
}

/** Whether an event matches the filters of a stream. */
function toCondition({ seedId, grantId, ...filter }: SharedFilters): (event: WorkspaceEvent) => boolean {
  const { types, notTypes } = toTypes(filter)
  return (event) =>
    types?.includes(event.type) !== false &&
    notTypes?.includes(event.type) !== true &&
    (seedId === undefined || seedIdOf(event.data) === seedId) &&
    (grantId === undefined || event.grantId === grantId)
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
    showsInvites: isAllowed(role, 'invites.list') && isAllowed(role, 'webhooks.list'),
    grantsOf: isAllowed(role, 'integrations.listAll') ? undefined : user.id,
  }
}
