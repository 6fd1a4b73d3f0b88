import type { components } from './api.ts'
import { ApiError } from './errors.ts'
import type { EventType, WorkspaceEvent } from './events.ts'
import { backOff, pause, type Retry, type Sending } from './retries.ts'
import { readServerSentEvents } from './server-sent-events.ts'

/** New events of a workspace, oldest first. */
export interface EventsPage {
  events: WorkspaceEvent[]
  /** Goes on after these events. Store it when they have been processed. */
  cursor: string
}

export interface FollowOptions {
  /** The cursor to go on from; `now` for what happens from now on. Default: from the first event on. */
  after?: string | undefined
  /** Only events of these types. Those that the service does not know are left out, with a warning. */
  types?: readonly EventType[] | undefined
  /** No events of these types. */
  notTypes?: readonly EventType[] | undefined
  /** Only events about this seed. */
  seedId?: string | undefined
  /** Only what the agent with this grant did. */
  grantId?: string | undefined
  /**
   * Whether to receive events by a stream (`events.stream`), within about a second, instead of asking for them every
   * `intervalMs`. Default: false.
   */
  stream?: boolean | undefined
  /** How long to wait when there is nothing new, in milliseconds. Default: 2,000. */
  intervalMs?: number | undefined
  /** Is told of each attempt that failed, before the next one. Default: `onWarning` is. */
  onRetry?: ((retry: Retry) => void) | undefined
  /** Receives warnings. Default: `console.warn`. */
  onWarning?: ((message: string) => void) | undefined
  /** Ends the loop without an error. */
  signal?: AbortSignal | undefined
}

type Send = (path: string, options: object, sending: Sending) => Promise<{ data: unknown }>

interface Filters {
  types?: readonly string[]
  notTypes?: readonly string[]
  seedId?: string
  grantId?: string
}

/** How long a stream may be silent, in milliseconds: the service sends something every 15 seconds. */
const silenceMsMax = 45_000

/** Makes `follow` of a client, whose GET requests are sent by `send`; waits are at most `retryWaitMsMax`. */
export function createFollow(send: Send, retryWaitMsMax: number) {
  return async function* follow(slug: string, options: FollowOptions = {}): AsyncGenerator<EventsPage, void> {
    const { after, types, notTypes, seedId, grantId, stream = false, intervalMs = 2_000, signal } = options
    const { onWarning = (message: string) => console.warn(message) } = options
    const { onRetry = (retry: Retry) => onWarning(describe(retry)) } = options
    const isEnded = () => signal?.aborted === true
    const params = { path: { slug } }
    const readChanges = async (query: { after?: string } & Filters) => {
      const asked = { params: { ...params, query }, signal }
      const { data } = await send('/v1/workspaces/{slug}/events/changes', asked, { onRetry })
      return data as components['schemas']['EventChanges']
    }

    async function* readPages(cursor: string | undefined, filters: Filters): AsyncGenerator<Lot> {
      const page = await readChanges({ ...filters, ...(cursor !== undefined && { after: cursor }) })
      yield { events: page.events as WorkspaceEvent[], cursor: page.cursor }
      if (!page.hasMore) await pause(intervalMs, signal)
    }

    async function* readStream(cursor: string | undefined, filters: Filters): AsyncGenerator<Lot> {
      // Otherwise a stream that broke before its first event would begin again later than now.
      if (cursor === 'now') {
        yield { events: [], cursor: (await readChanges({ after: 'now' })).cursor }
        return
      }
      const connection = new AbortController()
      const abort = () => connection.abort()
      signal?.addEventListener('abort', abort)
      try {
        const query = { ...filters, ...(cursor !== undefined && { after: cursor }) }
        const asked = { params: { ...params, query }, parseAs: 'stream', signal: connection.signal }
        if (isEnded()) return
        const { data } = await send('/v1/workspaces/{slug}/events/stream', asked, { onRetry })
        let waitMs = intervalMs
        const chunks = readChunks(data as ReadableStream<Uint8Array>, abort)
        for await (const parts of readServerSentEvents(chunks)) {
          const lot: Lot = { events: [], cursor: undefined }
          for (const { data, id, retryMs } of parts) {
            waitMs = retryMs ?? waitMs
            lot.cursor = id ?? lot.cursor
            if (data !== undefined) lot.events.push(JSON.parse(data) as WorkspaceEvent)
          }
          yield lot
        }
        // Streams end after an hour, and when the service stops.
        await pause(waitMs, signal)
      } finally {
        signal?.removeEventListener('abort', abort)
        connection.abort()
      }
    }

    const read = stream ? readStream : readPages
    let filters: Filters = {
      ...(types && { types }),
      ...(notTypes && { notTypes }),
      ...(seedId !== undefined && { seedId }),
      ...(grantId !== undefined && { grantId }),
    }
    let failures = 0
    for (let cursor = after; !isEnded();) {
      try {
        for await (const lot of read(cursor, filters)) {
          failures = 0
          cursor = lot.cursor ?? cursor
          if (lot.events.length > 0 && cursor !== undefined) yield { events: lot.events, cursor }
        }
      } catch (error) {
        if (isEnded()) return
        if (error instanceof BrokenStream) {
          const waitMs = backOff(failures, retryWaitMsMax)
          failures += 1
          onRetry({ error: error.cause, failures, waitMs })
          await pause(waitMs, signal)
          continue
        }
        const known = types && isTypeUnknown(error) ? await findKnownTypes(types, readChanges) : []
        if (known.length === 0) throw error
        const unknown = types?.filter((type) => !known.includes(type)).join(', ')
        onWarning(`The service does not know these types of events, which are left out: ${unknown}.`)
        filters = { ...filters, types: known }
      }
    }
  }
}

/** What came at once; perhaps only a cursor. */
interface Lot {
  events: WorkspaceEvent[]
  cursor: string | undefined
}

/** A stream that failed while it was read. */
class BrokenStream extends Error {}

/** The chunks of a stream. Throws a `BrokenStream` when it fails, or is silent for too long. */
async function* readChunks(
  stream: ReadableStream<Uint8Array>,
  abort: () => void,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  for (;;) {
    let part
    // Only while it is read: the caller may take its time with what came.
    const timer = setTimeout(abort, silenceMsMax)
    try {
      part = await reader.read()
    } catch (error) {
      throw new BrokenStream('the stream of events broke', { cause: error })
    } finally {
      clearTimeout(timer)
    }
    if (part.done) return
    yield part.value
  }
}

/** The types that the service does not refuse: it says that it refuses one, but not which. */
async function findKnownTypes(
  types: readonly EventType[],
  readChanges: (query: { after: string; types: string[] }) => Promise<unknown>,
): Promise<EventType[]> {
  const known = await Promise.all(
    types.map((type) =>
      readChanges({ after: 'now', types: [type] }).then(
        () => true,
        (error: unknown) => {
          if (isTypeUnknown(error)) return false
          throw error
        },
      ),
    ),
  )
  return types.filter((_type, i) => known[i])
}

function isTypeUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'event_type_unknown'
}

function describe({ error, waitMs }: Retry): string {
  return `The events of the workspace cannot be read now (${String(error)}). The next attempt is in ${Math.ceil(waitMs / 1000)} s.`
}
