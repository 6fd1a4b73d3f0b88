import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import { errors } from '../../kernel/errors.ts'
import type { PersonStreams } from '../../concurrency/person-streams.ts'
import type { App } from '../app-types.ts'
import { createEventStream, sendEventStream, type EventStream } from './event-stream.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Sends a stream of server-sent events (WHATWG HTML §9.2), until `listener.onEnd` is called. `open` begins it and
     * returns how it is stopped. Throws `too_many_streams`, and what `open` throws.
     */
    streamEvents(open: (listener: Listener) => Promise<Opened>): Promise<FastifyReply>
  }
}

/** What a stream is told. */
interface Listener {
  onEvents: (events: readonly { json: string; cursor: string }[], cursor: string) => void
  hasRoom: () => boolean
  onEnd: () => void
}

interface Opened {
  /** Called when the client has read what was sent. */
  onRoom: () => void
  stop: () => void
}

export interface StreamEventsOptions {
  /** How long a stream is open. Then the client asks again, perhaps another process. */
  lifetimeMs: number
  /** How often something is sent, so that proxies keep the connection and a client that is gone is noticed. */
  heartbeatMs: number
  /** The maximum number of streams of the process. */
  streamsMax: number
  /** The maximum number of streams of one API key. */
  keyStreamsMax: number
  /** Above this number of waiting bytes, nothing more is read for a client. */
  waitingBytesMax: number
  /** How long a client may leave more than that unread. */
  stalledMsMax: number
}

export const streamEventsDefaults: StreamEventsOptions = {
  lifetimeMs: 60 * 60_000,
  heartbeatMs: 15_000,
  streamsMax: 1_000,
  keyStreamsMax: 50,
  waitingBytesMax: 64 * 1024,
  stalledMsMax: 30_000,
}

const retryAfterSeconds = 15

/**
 * Adds `reply.streamEvents`. A client that does not read is disconnected: it goes on with `Last-Event-ID` when it has
 * connected again. Streams end when the app is closed.
 */
export const streamEvents = fastifyPlugin(
  async (app: App, options: StreamEventsOptions & { personStreams: PersonStreams }) => {
    const { streamsMax, keyStreamsMax, personStreams } = options
    const streams = new Map<EventStream, string>()
    const countOfKey = new Map<string, number>()
    let isClosing = false
    app.addHook('preClose', async () => {
      isClosing = true
      for (const { end } of streams.keys()) end()
    })

    function add(stream: EventStream, key: string): void {
      streams.set(stream, key)
      app.meter.streamChanged('events', 1)
      countOfKey.set(key, (countOfKey.get(key) ?? 0) + 1)
      void stream.ended.then(() => {
        streams.delete(stream)
        app.meter.streamChanged('events', -1)
        const left = (countOfKey.get(key) ?? 1) - 1
        if (left > 0) countOfKey.set(key, left)
        else countOfKey.delete(key)
      })
    }

    app.decorateReply('streamEvents', async function (this: FastifyReply, open) {
      if (isClosing) throw errors.overloaded({ retryAfterSeconds: 1 })
      const { principal } = this.request
      const key = String(principal.apiKeyId)
      const isCrowded = streams.size >= streamsMax || (countOfKey.get(key) ?? 0) >= keyStreamsMax
      const release = isCrowded ? undefined : personStreams.open(principal.user.id)
      if (!release) throw errors.tooManyStreams({ retryAfterSeconds })
      const { stream, listener, onOpen } = createListener(options)
      add(stream, key)
      void stream.ended.then(release)
      try {
        const opened = await open(listener)
        onOpen(opened)
        void stream.ended.then(opened.stop)
      } catch (error) {
        stream.end()
        throw error
      }
      return sendEventStream(this, stream)
    })
  },
  { name: 'stream-events', dependencies: ['api-key-auth'] },
)

/** A stream, and the listener that writes to it. */
function createListener({ lifetimeMs, heartbeatMs, waitingBytesMax, stalledMsMax }: StreamEventsOptions) {
  let opened: Opened | undefined
  let sentCursor = ''
  let cursor = ''
  let fullSince: number | undefined

  const hasRoom = () => stream.waitingBytes() < waitingBytesMax
  const watchStalled = () => {
    if (hasRoom()) fullSince = undefined
    else fullSince ??= performance.now()
    if (fullSince !== undefined && performance.now() - fullSince > stalledMsMax) stream.drop()
  }
  const stream = createEventStream({
    lifetimeMs,
    heartbeatMs,
    heartbeat: () => {
      watchStalled()
      if (cursor === sentCursor) return ':\n\n'
      // The client goes on behind the events that were not for it.
      sentCursor = cursor
      return `:\nid: ${cursor}\n\n`
    },
    onRoom: () => {
      fullSince = undefined
      opened?.onRoom()
    },
  })
  const listener: Listener = {
    hasRoom,
    onEvents: (events, behind) => {
      cursor = behind
      const texts = events.map((event) => `id: ${event.cursor}\ndata: ${event.json}\n\n`)
      if (texts.length === 0) return
      sentCursor = events.at(-1)?.cursor ?? sentCursor
      stream.send(texts.join(''))
    },
    onEnd: stream.end,
  }
  return { stream, listener, onOpen: (now: Opened) => void (opened = now) }
}
