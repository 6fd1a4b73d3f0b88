import { once } from 'node:events'
import { request, type RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { createTurns } from '../kernel/turns.ts'

const deadlineMs = 2_500
/** How many documents are fetched at once. Others wait, within their own time. */
const atOnceMax = 10
const bodyBytesMax = 64 * 1024
// Long enough for two fetches within one request, short enough for an author who fixes the document.
const failureKeptMs = 5_000
const failuresMax = 1_000

export interface UntrustedFetchOptions {
  /** Sends a request. Default: over the network, to public addresses only. */
  send?: (url: URL, options: { headers: Headers; signal: AbortSignal }) => Promise<Response>
  /** Starts the deadline of a request. */
  startDeadline?: () => AbortSignal
}

/**
 * Creates a `fetch` for untrusted URLs: GET over https on port 443, from public addresses, without redirects, at most
 * 64 KiB, ten at once. All failures have the same message and take until the deadline, so that they reveal nothing about
 * names, addresses and ports inside the network.
 */
export function createUntrustedFetch(options: UntrustedFetchOptions = {}): typeof fetch {
  const { send = createSender(), startDeadline = () => AbortSignal.timeout(deadlineMs) } = options
  const failed = new Set<string>()
  const turns = createTurns({ atOnceMax, waitingMax: Infinity, waitMsMax: deadlineMs })

  function remember(url: string): void {
    if (failed.size >= failuresMax) return
    failed.add(url)
    setTimeout(() => failed.delete(url), failureKeptMs).unref()
  }

  return async (input, init) => {
    const { url, headers } = new Request(input, { headers: init?.headers ?? {} })
    if (failed.has(url)) throw new Error('the document could not be fetched recently')
    const signal = startDeadline()
    try {
      const end = await turns.take('')
      try {
        signal.throwIfAborted()
        return await read(await send(requirePublicUrl(url), { headers, signal }))
      } finally {
        end()
      }
    } catch (cause) {
      if (!signal.aborted) await once(signal, 'abort')
      remember(url)
      throw new Error('the document could not be fetched', { cause })
    }
  }
}

function requirePublicUrl(text: string): URL {
  const url = new URL(text)
  // The URL parser removes the default port and normalizes IP addresses (URL Standard §3.5).
  const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0
  if (url.protocol !== 'https:' || url.port !== '' || isAddress) throw new Error('the URL is not public')
  return url
}

/** Reads the whole response. */
async function read(response: Response): Promise<Response> {
  if (response.status !== 200) throw new Error(`the status is ${response.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > bodyBytesMax) throw new Error('the body is too large')
  }
  return new Response(Buffer.concat(chunks), { headers: response.headers })
}

/**
 * Sends requests over the network. It checks the resolved address and connects to it without resolving the name again.
 */
export function createSender(
  options: Pick<RequestOptions, 'lookup'> = {},
): NonNullable<UntrustedFetchOptions['send']> {
  return async (url, { headers, signal }) => {
    const { RequestFilteringHttpsAgent } = await import('request-filtering-agent')
    // A new agent for each request: a kept connection would be reused for another name without a check.
    const agent = new RequestFilteringHttpsAgent({ keepAlive: false })
    return new Promise((resolve, reject) => {
      const sent = request(url, { ...options, agent, headers: Object.fromEntries(headers), signal })
      sent.once('error', reject)
      sent.once('response', (message) => {
        const { statusCode: status = 0, headers: received } = message
        if (status !== 200) {
          message.destroy()
          reject(new Error(`the status is ${status}`))
          return
        }
        const known = ['cache-control', 'content-type', 'expires'] as const
        const kept = known.flatMap((name) => {
          const value = received[name]
          return value === undefined ? [] : [[name, value] as [string, string]]
        })
        resolve(new Response(Readable.toWeb(message) as ReadableStream<Uint8Array>, { headers: kept }))
      })
      sent.end()
    })
  }
}
