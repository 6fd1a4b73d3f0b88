import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { App } from '../app-types.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the response is the same for everybody, as long as the process runs: it is compressed once. */
    isUnchanging?: boolean
  }
}

/** A content coding (RFC 9110 §8.4.1). */
type Coding = 'br' | 'gzip'

/** In the order of preference, for clients that have none. */
const codings: Coding[] = ['br', 'gzip']

/** A smaller response fits in one packet anyway. */
const bytesMin = 1024
// Event streams are sent as they come; pictures are compressed already.
const compressibleTypes = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?json\b|image\/svg\+xml)/

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

// Each response: fast, and with little memory (a window of 256 KiB instead of 4 MiB).
const quick: Record<Coding, (content: string | Buffer) => Promise<Buffer>> = {
  br: (content) =>
    toBrotli(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 },
    }),
  gzip: (content) => toGzip(content, { level: 5 }),
}

// What is compressed once.
const thorough: typeof quick = {
  br: (content) => toBrotli(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (content) => toGzip(content, { level: 9 }),
}

/**
 * Compresses text responses of 1 KiB and more for clients that accept it (RFC 9110 §12.5.3). The work is done in the
 * threads of libuv. A response is compressed as a whole before it is sent: its length is known, and what waits for a
 * slow reader is small, and counted by `registerSlowReaders` (docs/design/errors.md#compression).
 */
export function registerCompression(app: App): void {
  app.addHook('onRoute', (route) => {
    const kept = route.config?.isUnchanging ? new Map<Coding, Buffer>() : undefined
    const compress: onSendHookHandler = (request, reply, payload, done) => {
      if (!isCompressible(reply, payload)) {
        done(null, payload)
        return
      }
      // Also for responses that are not compressed: caches may get either.
      addVary(reply)
      const coding = findCoding(request)
      if (coding === null) {
        done(null, payload)
        return
      }
      if (request.method === 'HEAD') {
        // The length of the response to GET is unknown until it is compressed.
        void setCoding(reply, coding).removeHeader('content-length')
        done(null, payload)
        return
      }
      const keeps = reply.statusCode === 200 ? kept : undefined
      const send = (body: Buffer) => {
        keeps?.set(coding, body)
        void setCoding(reply, coding).header('content-length', body.length)
        done(null, body)
      }
      const known = keeps?.get(coding)
      if (known) send(known)
      else (keeps ? thorough : quick)[coding](payload as string | Buffer).then(send, done)
    }
    // Last: the hooks of the route itself read the response.
    route.onSend = [...[route.onSend ?? []].flat(), compress]
  })
}

/**
 * Sets the coding of a response. Its entity tag becomes weak: a strong one is the same only for the same bytes (RFC 9110
 * §8.8.1).
 */
function setCoding(reply: FastifyReply, coding: Coding): FastifyReply {
  const tag = reply.getHeader('etag')
  if (typeof tag === 'string' && !tag.startsWith('W/')) void reply.header('etag', `W/${tag}`)
  return reply.header('content-encoding', coding)
}

/** Says of a 304 that the response with this body, which it stands for, may be compressed. */
export function noteCompression(reply: FastifyReply, body: string): void {
  if (isCompressible(reply, body)) addVary(reply)
}

/** Whether a response is text of some length. The payload of a response to HEAD is null. */
function isCompressible(reply: FastifyReply, payload: unknown): boolean {
  const isWhole = typeof payload === 'string' || Buffer.isBuffer(payload)
  // A long text has at least a byte for each character: counting them takes 0.5 ms for a page of 1 MiB.
  const isLong = isWhole
    ? payload.length >= bytesMin || Buffer.byteLength(payload) >= bytesMin
    : Number(reply.getHeader('content-length') ?? 0) >= bytesMin
  return (
    (isWhole || payload === null) &&
    isLong &&
    !reply.hasHeader('content-encoding') &&
    compressibleTypes.test(String(reply.getHeader('content-type')))
  )
}

/** The coding that the client likes best; null if it accepts none of ours. */
function findCoding({ headers }: FastifyRequest): Coding | null {
  // Codings are case-insensitive (RFC 9110 §8.4.1).
  return negotiate<Coding>(headers['accept-encoding']?.toLowerCase() ?? '', codings)
}

function addVary(reply: FastifyReply): void {
  void reply.header('vary', [...[reply.getHeader('vary') ?? []].flat(), 'Accept-Encoding'].join(', '))
}
