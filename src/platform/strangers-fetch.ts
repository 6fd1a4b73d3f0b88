import { once } from 'node:events'
import { request, type RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'

const deadlineMs = 2_500
const bodyBytesMax = 64 * 1024
// Long enough for one request that asks twice, short enough for whoever mends their document.
const failureKeptMs = 5_000
const failuresMax = 1_000

export interface StrangersFetchOptions {
  /** Sends a request; by default over the network, to public addresses only. */
  send?: (url: URL, options: { headers: Headers; signal: AbortSignal }) => Promise<Response>
  /** Begins the time that a request has. */
  startDeadline?: () => AbortSignal
}

/**
 * How everything is fetched whose URL a stranger has given: by GET, over https on its own port, from a public address,
 * following no redirect, and at most 64 KiB. Whatever fails, fails in the same words when the deadline ends, so that
 * nobody learns from it which names, addresses and ports there are inside a network.
 */
export function createStrangersFetch(options: StrangersFetchOptions = {}): typeof fetch {
  const { send = createSender(), startDeadline = () => AbortSignal.timeout(deadlineMs) } = options
  const failed = new Set<string>()

  function remember(url: string): void {
    if (failed.size >= failuresMax) return
    failed.add(url)
    setTimeout(() => failed.delete(url), failureKeptMs).unref()
  }

  return async (input, init) => {
    const { url, headers } = new Request(input, { headers: init?.headers ?? {} })
    if (failed.has(url)) throw new Error('the document could not be fetched a moment ago')
    const signal = startDeadline()
    try {
      return await read(await send(requirePublicUrl(url), { headers, signal }))
    } catch (cause) {
      if (!signal.aborted) await once(signal, 'abort')
      remember(url)
      throw new Error('the document could not be fetched', { cause })
    }
  }
}

function requirePublicUrl(text: string): URL {
  const url = new URL(text)
  // The URL parser drops the port of the scheme, and writes addresses in their usual form (URL Standard §3.5).
  const isAddress = isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0
  if (url.protocol !== 'https:' || url.port !== '' || isAddress) throw new Error('the URL is not public')
  return url
}

/** The answer, once all of it has come. */
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
 * Sends requests over the network. The address that a name resolves to is checked before anything connects to it, and
 * it is the one that is connected to: the name is not looked up again.
 */
export function createSender(
  options: Pick<RequestOptions, 'lookup'> = {},
): NonNullable<StrangersFetchOptions['send']> {
  return async (url, { headers, signal }) => {
    const { RequestFilteringHttpsAgent } = await import('request-filtering-agent')
    // Of its own: a connection that is kept would be used without being checked for another name.
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
