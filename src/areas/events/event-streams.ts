import { encodeFeedCursor, type FeedPosition } from '../../domain/event-cursors.ts'
import { parseJson, type Json } from '../../kernel/json-text.ts'
import { rowsOf } from '../../kernel/pagination.ts'
import type { FeedRows } from './event-feed.repository.ts'
import type { EventsWatcher } from './events-watcher.ts'
import type { EventView } from './events.repository.ts'
import type { Event } from './events.schemas.ts'

/** An event with the cursor behind it. */
export interface StreamedEvent {
  json: Json<Event>
  cursor: string
}

/** Where the events of a stream go. */
export interface StreamListener {
  /** `cursor` is behind all events that were looked at, of which those that are not shown are not sent. */
  onEvents: (events: readonly StreamedEvent[], cursor: string) => void
  /** Whether there is room for more events. If not, `onRoom` of the stream is called when there is. */
  hasRoom: () => boolean
  /** The reader may no longer read the stream, or its cursor has become unknown. */
  onEnd: () => void
}

/** A reader of the events of a workspace. */
export interface Follower {
  workspaceId: string
  /** Behind the last event that it was sent, or that is not shown to it. */
  at: FeedPosition
  view: EventView
  /** Which events it is sent. */
  isWanted: (event: Event) => boolean
  /** What the reader may see now; undefined when they may no longer read the stream. */
  check: () => Promise<EventView | undefined>
  listener: StreamListener
}

/** A stream that is open. */
export interface OpenStream {
  /** Says that there is room for more events again. */
  onRoom: () => void
  stop: () => void
}

export interface EventStreams {
  /**
   * Sends a follower the first rows, which were read with its view, and what is behind them, within about a second after it
   * was committed, until it is stopped.
   */
  open(reader: Omit<Follower, 'at'>, rows: FeedRows): OpenStream
}

export interface EventStreamsOptions {
  watcher: Pick<EventsWatcher, 'follow'>
  /** Reads the events behind a position. */
  read: (input: {
    workspaceId: string
    after: number
    filter: Record<string, never>
    view: EventView
    limit: number
  }) => Promise<FeedRows>
  /** Called once for each outage in which events cannot be read. They are read again until it ends. */
  onReadError: (error: unknown) => void
}

/** The most events that are read at once. */
export const streamBatchMax = 200
/** How many workspaces are read at once. */
const atOnceMax = 4
const checkEveryMs = 60_000

/** The followers of one workspace. */
interface Room {
  followers: Set<Follower>
  last: number
  isBusy: boolean
  stop: () => void
}

/**
 * Streams of events. The positions of all their workspaces are polled by one statement, and new events are read once
 * for all followers with the same view at the same position. Before each batch, and once a minute, what they may see is
 * checked again (docs/design/events.md#streams).
 */
export function createEventStreams({ watcher, read, onReadError }: EventStreamsOptions): EventStreams {
  const rooms = new Map<string, Room>()
  const waiting = new Set<Room>()
  let busyCount = 0
  let isFailing = false
  let checking: NodeJS.Timeout | undefined

  function open(reader: Omit<Follower, 'at'>, rows: FeedRows): OpenStream {
    const follower = { ...reader, at: rows.after }
    deliver(follower, toBatch(follower.workspaceId, rows))
    const room = rooms.get(follower.workspaceId) ?? createRoom(follower.workspaceId)
    room.followers.add(follower)
    room.last = Math.max(room.last, rows.last)
    checking ??= setInterval(() => void checkAll(), checkEveryMs).unref()
    return { onRoom: () => enqueue(room), stop: () => leave(room, follower) }
  }

  function createRoom(workspaceId: string): Room {
    const room: Room = { followers: new Set(), last: 0, isBusy: false, stop: () => undefined }
    room.stop = watcher.follow(workspaceId, (last) => {
      room.last = last
      enqueue(room)
    })
    rooms.set(workspaceId, room)
    return room
  }

  function leave(room: Room, follower: Follower): void {
    room.followers.delete(follower)
    if (room.followers.size > 0 || rooms.get(follower.workspaceId) !== room) return
    room.stop()
    rooms.delete(follower.workspaceId)
    if (rooms.size > 0) return
    clearInterval(checking)
    checking = undefined
  }

  function end(room: Room, follower: Follower): void {
    leave(room, follower)
    follower.listener.onEnd()
  }

  /** Those that have not read the newest event, or one that is not there any more. */
  function findBehind({ followers, last }: Room): Follower[] {
    return [...followers].filter(({ at, listener }) => at.position !== last && listener.hasRoom())
  }

  function enqueue(room: Room): void {
    if (room.isBusy || findBehind(room).length === 0) return
    waiting.add(room)
    if (busyCount < atOnceMax) void work()
  }

  async function work(): Promise<void> {
    busyCount += 1
    for (let [room] = waiting; room; [room] = waiting) {
      waiting.delete(room)
      room.isBusy = true
      try {
        await advance(room)
        isFailing = false
      } catch (error) {
        // The next poll tries again.
        if (!isFailing) onReadError(error)
        isFailing = true
        room.isBusy = false
        continue
      }
      room.isBusy = false
      enqueue(room)
    }
    busyCount -= 1
  }

  async function advance(room: Room): Promise<void> {
    const behind = await keepAllowed(room, findBehind(room))
    for (const followers of groupEqual(behind)) {
      const [first] = followers
      const { workspaceId, at, view } = first
      const rows = await read({
        workspaceId,
        after: at.position,
        filter: {},
        view,
        limit: streamBatchMax,
      })
      if (rows.after.id !== at.id) {
        for (const follower of followers) end(room, follower)
        continue
      }
      const batch = toBatch(workspaceId, rows)
      room.last = Math.max(room.last, rows.last)
      for (const follower of followers) {
        if (room.followers.has(follower)) deliver(follower, batch)
      }
    }
  }

  /** Ends those who may no longer read the stream, and returns the others, with what they may see now. */
  async function keepAllowed(room: Room, followers: readonly Follower[]): Promise<Follower[]> {
    const views = await Promise.all(followers.map(({ check }) => check()))
    return followers.filter((follower, i) => {
      if (!room.followers.has(follower)) return false
      const view = views[i]
      if (view) follower.view = view
      else end(room, follower)
      return view !== undefined
    })
  }

  async function checkAll(): Promise<void> {
    for (const room of rooms.values()) {
      try {
        await keepAllowed(room, [...room.followers])
      } catch (error) {
        if (!isFailing) onReadError(error)
        isFailing = true
      }
    }
  }

  return { open }
}

interface Batch {
  events: (StreamedEvent & { event: Event })[]
  at: FeedPosition
  cursor: string
}

function toBatch(workspaceId: string, { text, positions, count, until }: FeedRows): Batch {
  const reached: FeedPosition[] = []
  const events = rowsOf(text).map((line, i) => {
    const json = line as Json<Event>
    const event = parseJson(json)
    const at = { position: Number(positions[i]), id: event.id }
    reached.push(at)
    return { json, event, cursor: encodeFeedCursor(workspaceId, at) }
  })
  const at = (count < streamBatchMax ? undefined : reached.at(-1)) ?? until
  return { events, at, cursor: encodeFeedCursor(workspaceId, at) }
}

function deliver(follower: Follower, { events, at, cursor }: Batch): void {
  const { isWanted, listener } = follower
  follower.at = at
  listener.onEvents(
    events.filter(({ event }) => isWanted(event)),
    cursor,
  )
}

/** Groups those that get the same events: with the same position and view. */
function groupEqual(followers: readonly Follower[]): [Follower, ...Follower[]][] {
  const groups = new Map<string, [Follower, ...Follower[]]>()
  for (const follower of followers) {
    const key = JSON.stringify([follower.at, follower.view])
    const group = groups.get(key)
    if (group) group.push(follower)
    else groups.set(key, [follower])
  }
  return [...groups.values()]
}
