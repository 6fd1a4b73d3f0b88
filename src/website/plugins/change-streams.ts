import { randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { errors } from '../../kernel/errors.ts'

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Sends a stream of server-sent events (WHATWG HTML §9.2): a `change` each time that `watch` calls `onChange`, until it
     * calls `onEnd`. `watch` returns a function that stops watching, which is called when the stream ends. Throws
     * `overloaded` if the process has too many streams.
     */
    sendChanges(watch: (listener: StreamListener) => Promise<() => void>): Promise<FastifyReply>
  }
}

/** What a stream is told. */
export interface StreamListener {
  onChange: () => void
  /** The person may no longer read the stream. */
  onEnd: () => void
}

export interface ChangeStreamsOptions {
  /** How long a stream is open. Then the browser asks again, and its session and access are checked again. */
  lifetimeMs: number
  /** How often something is sent, so that proxies keep the connection and a client that is gone is noticed. */
  heartbeatMs: number
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

/** How soon a browser asks again: at random, so that the browsers of a stopped process do not ask all at once. */
const retryMsMin = 1_000
const retryMsMax = 3_000
/** How soon a browser asks again for a stream that ended because its session or person has too many. */
const crowdedRetryMs = 30_000

const change = 'event: change\ndata:\n\n'
const heartbeat = ':\n\n'

/**
 * Adds `reply.sendChanges`. The streams end when the app is closed. If a session or a person has too many, the oldest one ends, which
 * may be that of a page that was left, if a proxy has not noticed it (decision 0100).
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
      oldest.send(`retry: ${crowdedRetryMs}\n\n`)
      oldest.end()
    }

    app.decorateReply('sendChanges', async function (this: FastifyReply, watch) {
      if (isClosing || streams.size >= streamsMax) throw errors.overloaded({ retryAfterSeconds: 15 })
      const { principal, visit } = this.request
      const owner = { sessionId: visit.sessionId, userId: principal.user.id }
      endOldest((stream) => stream.owner.sessionId === owner.sessionId, sessionStreamsMax)
      endOldest((stream) => stream.owner.userId === owner.userId, personStreamsMax)
      const stream = createChangeStream(owner, options)
      streams.add(stream)
      void stream.ended.then(() => streams.delete(stream))
      try {
        const stop = await watch({ onChange: () => stream.send(change), onEnd: stream.end })
        void stream.ended.then(stop)
      } catch (error) {
        stream.end()
        throw error
      }
      return (
        this.type('text/event-stream')
          // nginx would collect the events.
          .header('x-accel-buffering', 'no')
          .header('cross-origin-resource-policy', 'same-origin')
          .send(stream.body)
      )
    })
  },
  { name: 'change-streams', dependencies: ['signed-in-only'] },
)

interface StreamOwner {
  sessionId: string | undefined
  userId: string
}

interface ChangeStream {
  owner: StreamOwner
  body: Readable
  send: (text: string) => void
  end: () => void
  /** Resolves when the stream has been ended, or its reader has disconnected. */
  ended: Promise<void>
}

function createChangeStream(
  owner: StreamOwner,
  { lifetimeMs, heartbeatMs }: ChangeStreamsOptions,
): ChangeStream {
  let resolveEnded: () => void
  const ended = new Promise<void>((resolve) => (resolveEnded = resolve))
  let hasEnded = false
  const body = new Readable({ read: () => undefined })
  const send = (text: string) => {
    if (!hasEnded) body.push(text)
  }
  const end = () => {
    if (hasEnded) return
    hasEnded = true
    clearInterval(beating)
    clearTimeout(living)
    body.push(null)
    resolveEnded()
  }
  const beating = setInterval(() => send(heartbeat), heartbeatMs).unref()
  const living = setTimeout(end, lifetimeMs).unref()
  // Fastify destroys the body when the reader disconnects.
  body.once('close', end)
  send(`retry: ${randomInt(retryMsMin, retryMsMax)}\n\n`)
  return { owner, body, send, end, ended }
}
