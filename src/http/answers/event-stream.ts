import { randomInt } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** How soon a client asks again: at random, so that the clients of a stopped process do not ask all at once. */
const retryMsMin = 1_000
const retryMsMax = 3_000

export interface EventStreamOptions {
  /** How long the stream is open. Then the client asks again. */
  lifetimeMs: number
  /** How often something is sent, so that proxies keep the connection and a client that is gone is noticed. */
  heartbeatMs: number
  /** What is sent then. Default: an empty comment. */
  heartbeat?: () => string
  /** Called when the client has read what was sent, so that there is room for more. */
  onRoom?: () => void
}

/** A stream of server-sent events (WHATWG HTML §9.2). */
export interface EventStream {
  body: Readable
  send: (text: string) => void
  /** The bytes that wait for the client. */
  waitingBytes: () => number
  end: () => void
  /** Disconnects the client, which has not read what was sent. */
  drop: () => void
  /** Resolves when the stream has been ended, or its client has disconnected. */
  ended: Promise<void>
}

/** Opens a stream, which tells the client how soon it may ask again. */
export function createEventStream(options: EventStreamOptions): EventStream {
  const { lifetimeMs, heartbeatMs, heartbeat = () => ':\n\n', onRoom } = options
  let resolveEnded: () => void
  const ended = new Promise<void>((resolve) => (resolveEnded = resolve))
  let hasEnded = false
  const body = new Readable({ read: () => onRoom?.() })
  const send = (text: string) => {
    if (!hasEnded) body.push(text)
  }
  const close = () => {
    hasEnded = true
    clearInterval(beating)
    clearTimeout(living)
    resolveEnded()
  }
  const end = () => {
    if (hasEnded) return
    close()
    body.push(null)
  }
  const beating = setInterval(() => send(heartbeat()), heartbeatMs).unref()
  const living = setTimeout(end, lifetimeMs).unref()
  // Fastify destroys the body when the client disconnects.
  body.once('close', end)
  send(formatRetry(randomInt(retryMsMin, retryMsMax)))
  return {
    body,
    send,
    waitingBytes: () => body.readableLength,
    end,
    drop: () => {
      close()
      body.destroy(new Error('the client did not read its events'))
    },
    ended,
  }
}

/** Tells a client how soon it may ask again. */
export function formatRetry(ms: number): string {
  return `retry: ${ms}\n\n`
}

/** Sends a stream as the response. */
export function sendEventStream(reply: FastifyReply, { body }: EventStream): FastifyReply {
  return (
    reply
      .type('text/event-stream')
      // nginx would collect the events.
      .header('x-accel-buffering', 'no')
      .send(body)
  )
}
