import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import {
  createEventStream,
  formatRetry,
  sendEventStream,
  type EventStream,
  type EventStreamOptions,
} from '../../http/answers/event-stream.ts'
import type { App } from '../../http/app-types.ts'
import { errors } from '../../kernel/errors.ts'
import { readQuery } from '../components/lists.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Sends a stream of server-sent events (WHATWG HTML §9.2): a `change` each time that `watch` calls `onChange`, until it
     * calls `onEnd`. `after` is the id of the last one that the browser has received, or what the page named as `after` in
     * the URL, or empty. `watch` returns a function that stops watching, which is called when the stream ends. Throws
     * `overloaded` if the process has too many streams.
     */
    sendChanges(
      watch: (listener: StreamListener, after: string) => Promise<() => void>,
    ): Promise<FastifyReply>
  }
}

/** What a stream is told. */
export interface StreamListener {
  /** Called with an id of what is the newest, from which a later stream goes on. */
  onChange: (id: string | number) => void
  /** The person may no longer read the stream. */
  onEnd: () => void
}

export interface ChangeStreamsOptions extends Pick<EventStreamOptions, 'lifetimeMs' | 'heartbeatMs'> {
  /** The maximum number of streams of the process. */
  streamsMax: number
  /**
   * The maximum number of streams of one session. Over HTTP/1.1, browsers open six connections to a host: some must be
   * left for pages.
   */
  sessionStreamsMax: number
  /** The maximum number of streams of one person, in all their sessions. */
  personStreamsMax: number
}

export const changeStreamsDefaults: ChangeStreamsOptions = {
  lifetimeMs: 60_000,
  heartbeatMs: 20_000,
  streamsMax: 1_000,
  sessionStreamsMax: 4,
  personStreamsMax: 12,
}

/** How soon a browser asks again for a stream that ended because its session or person has too many. */
const crowdedRetryMs = 30_000

const formatChange = (id: string | number) => `id: ${id}\nevent: change\ndata:\n\n`

/**
 * Adds `reply.sendChanges`. The streams end when the app is closed. If a session or a person has too many, the oldest
 * one ends, which may be that of a page that was left, if a proxy has not noticed it
 * (docs/design/events.md#live-pages).
 */
export const changeStreams = fastifyPlugin(
  async (app: App, options: ChangeStreamsOptions) => {
    const { streamsMax, sessionStreamsMax, personStreamsMax } = options
    const streams = new Set<ChangeStream>()
    let isClosing = false
    app.addHook('preClose', async () => {
      isClosing = true
      for (const { end } of streams) end()
    })

    /** Ends the oldest of some streams if there are `max` of them. */
    const endOldest = (isOne: (stream: ChangeStream) => boolean, max: number) => {
      const ofOwner = [...streams].filter(isOne)
      const [oldest] = ofOwner
      if (!oldest || ofOwner.length < max) return
      streams.delete(oldest)
      oldest.send(formatRetry(crowdedRetryMs))
      oldest.end()
    }

    app.decorateReply('sendChanges', async function (this: FastifyReply, watch) {
      if (isClosing || streams.size >= streamsMax) throw errors.overloaded({ retryAfterSeconds: 15 })
      const { principal, visit, headers } = this.request
      const after = String(headers['last-event-id'] ?? readQuery(this.request, 'after'))
      const owner = { sessionId: visit.sessionId, userId: principal.user.id }
      endOldest((stream) => stream.owner.sessionId === owner.sessionId, sessionStreamsMax)
      endOldest((stream) => stream.owner.userId === owner.userId, personStreamsMax)
      const stream = { ...createEventStream(options), owner }
      streams.add(stream)
      app.meter.streamChanged('changes', 1)
      void stream.ended.then(() => {
        streams.delete(stream)
        app.meter.streamChanged('changes', -1)
      })
      try {
        const stop = await watch(
          { onChange: (id) => stream.send(formatChange(id)), onEnd: stream.end },
          after,
        )
        void stream.ended.then(stop)
      } catch (error) {
        stream.end()
        throw error
      }
      return sendEventStream(this.header('cross-origin-resource-policy', 'same-origin'), stream)
    })
  },
  { name: 'change-streams', dependencies: ['signed-in-only'] },
)

interface StreamOwner {
  sessionId: string | undefined
  userId: string
}

interface ChangeStream extends EventStream {
  owner: StreamOwner
}
