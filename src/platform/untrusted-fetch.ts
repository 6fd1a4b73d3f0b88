import { once } from 'node:events'
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request, type RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { FetchFailure } from '../kernel/fetch-failure.ts'
import { createTurns } from '../concurrency/turns.ts'
import { isLoopback, type SendWebhook, type WebhookAnswer } from '../domain/webhooks.ts'
import { connectThroughProxy } from './outgoing-proxy.ts'
import { checkLookup, createRanges, isUnassigned } from './public-addresses.ts'

const deadlineMs = 2_500
/** How many documents are fetched at once. Others wait, within their own time. */
const atOnceMax = 10
const bodyBytesMax = 64 * 1024
// Long enough for two fetches within one request, short enough for an author who fixes the document.
const failureKeptMs = 5_000
const failuresMax = 1_000

export interface UntrustedFetchOptions {
  /** The proxy of the operator, for requests over the network. Default: none. */
  proxy?: URL | undefined
  /** Sends a request. Default: over the network, to public addresses only. */
  send?: (url: URL, options: { headers: Headers; signal: AbortSignal }) => Promise<Response>
  /** Starts the deadline of a request to a URL. */
  startDeadline?: (url: string) => AbortSignal
}

/**
 * Creates a `fetch` for untrusted URLs: GET over https on port 443, from public addresses, without redirects, at most
 * 64 KiB, ten at once. Throws a FetchFailure for everything but a response with status 200. All failures have the same
 * message and take until the deadline, so that they reveal nothing about names, addresses and ports inside the network.
 */
export function createUntrustedFetch(options: UntrustedFetchOptions = {}): typeof fetch {
  const { proxy, startDeadline = () => AbortSignal.timeout(deadlineMs) } = options
  const { send = createSender({ proxy }) } = options
  const failed = new Map<string, FetchFailure>()
  const turns = createTurns({ atOnceMax, waitingMax: Infinity, waitMsMax: deadlineMs })

  function remember(url: string, failure: FetchFailure): void {
    if (failed.size >= failuresMax) return
    failed.set(url, failure)
    setTimeout(() => failed.delete(url), failureKeptMs).unref()
  }

  return async (input, init) => {
    const { url, headers } = new Request(input, { headers: init?.headers ?? {} })
    const before = failed.get(url)
    if (before) throw new FetchFailure(before.reason, { status: before.status, isRemembered: true })
    const signal = startDeadline(url)
    try {
      const end = await turns.take('')
      try {
        signal.throwIfAborted()
        return await read(await send(requirePublicUrl(url), { headers, signal }))
      } finally {
        end()
      }
    } catch (cause) {
      const failure = signal.aborted
        ? new FetchFailure('there was no answer in time', { cause })
        : new FetchFailure(reasonOf(cause), {
            status: cause instanceof WrongStatus ? cause.status : undefined,
          })
      if (!signal.aborted) await once(signal, 'abort')
      remember(url, failure)
      throw failure
    }
  }
}

/** A response that is not a document. */
class WrongStatus extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the status is ${status}`)
    this.status = status
  }
}

/** What to tell the operator. Node's errors of several addresses have a code and no message. */
function reasonOf(cause: unknown): string {
  const { message, code } = cause as { message?: string; code?: string }
  return message || code || String(cause)
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
  if (response.status !== 200) throw new WrongStatus(response.status)
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
 * Sends requests over the network, through a proxy if there is one. It checks the resolved address and connects to it
 * without resolving the name again.
 */
export function createSender({
  proxy,
  ...options
}: Pick<RequestOptions, 'lookup' | 'ca'> & { proxy?: URL | undefined } = {}): NonNullable<
  UntrustedFetchOptions['send']
> {
  return async (url, { headers, signal }) => {
    const connection = proxy
      ? await connectThroughProxy(url, { proxy, signal, lookup: options.lookup })
      : await connectDirectly()
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        ...options,
        lookup: checkLookup(isUnassigned, options.lookup),
        ...connection,
        headers: { ...Object.fromEntries(headers), host: url.host },
        signal,
      })
      sent.once('error', reject)
      sent.once('proxyConnect', ({ statusCode }: { statusCode: number }) => {
        if (statusCode !== 200) sent.destroy(new Error(`the proxy has refused: its status is ${statusCode}`))
      })
      sent.once('response', (message) => {
        const { statusCode: status = 0, headers: received } = message
        if (status !== 200) {
          message.destroy()
          reject(new WrongStatus(status))
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

async function connectDirectly(): Promise<Pick<RequestOptions, 'agent'>> {
  const { RequestFilteringHttpsAgent } = await import('request-filtering-agent')
  // A new agent for each request: a kept connection would be reused for another name without a check.
  return { agent: new RequestFilteringHttpsAgent({ keepAlive: false }) }
}

/** How long the receiver of a webhook may take to answer, from resolving its name on. */
const answerMsMax = 15_000
/** How much of an answer is read, so that its sender does not fail. Nothing of it is used. */
const answerBytesMax = 1024

export interface UntrustedPostOptions extends Pick<RequestOptions, 'lookup' | 'ca'> {
  /** Host names, addresses and CIDR ranges that are not public, but may be sent to. */
  allowedHosts: readonly string[]
  /** Whether requests may be sent to this machine, also over http. */
  isDevelopment: boolean
  timeoutMs?: number
}

/**
 * Creates a function that sends a POST to an untrusted URL: over https on any port, to public addresses and those that the
 * operator allows, without redirects. All that is learnt of a failure is its kind: an address that is not allowed looks like
 * a closed port. The function fails only when its signal aborts it.
 */
export function createUntrustedPost(options: UntrustedPostOptions): SendWebhook {
  const { allowedHosts, isDevelopment, timeoutMs = answerMsMax, ...connection } = options
  const isRange = (host: string) => isIP(host.split('/')[0] ?? '') !== 0
  const ranges = [...allowedHosts.filter(isRange), ...(isDevelopment ? ['127.0.0.0/8', '::1'] : [])]
  const names = new Set(allowedHosts.filter((host) => !isRange(host)))
  const isInRanges = createRanges(ranges)
  const isRefused = (address: string) => isUnassigned(address) && !isInRanges(address)

  async function createAgent(url: URL) {
    const { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } = await import('request-filtering-agent')
    const filter = {
      // As for fetching.
      keepAlive: false,
      allowPrivateIPAddress: names.has(url.hostname),
      allowIPAddressList: ranges,
    }
    return url.protocol === 'https:'
      ? new RequestFilteringHttpsAgent(filter)
      : new RequestFilteringHttpAgent(filter)
  }

  return async ({ url: text, headers, body }, signal) => {
    const url = new URL(text)
    // The settings may have changed since the URL was stored.
    if (url.protocol !== 'https:' && !(isDevelopment && isLoopback(url.hostname))) return { error: 'refused' }
    const isNamed = names.has(url.hostname)
    if (!isNamed && isRefused(url.hostname.replace(/^\[|\]$/g, ''))) return { error: 'refused' }
    const agent = await createAgent(url)
    const timeout = AbortSignal.timeout(timeoutMs)
    const open = url.protocol === 'https:' ? request : requestHttp
    const sent = open(url, {
      ...connection,
      ...(!isNamed && { lookup: checkLookup(isRefused, connection.lookup) }),
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      signal: AbortSignal.any([signal, timeout]),
    })
    const readPhase = watchPhase(sent)
    try {
      sent.end(body)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      await discard(answer)
      return toAnswer(answer)
    } catch (error) {
      if (signal.aborted) throw error
      if (timeout.aborted) return { error: 'timeout' }
      return { error: readPhase() === 'handshake' ? 'tls' : 'refused' }
    } finally {
      sent.destroy()
    }
  }
}

/** Watches how far the connection of a request over https has come. */
function watchPhase(sent: ClientRequest): () => 'connecting' | 'handshake' | 'connected' {
  let phase: ReturnType<ReturnType<typeof watchPhase>> = 'connecting'
  sent.once('socket', (socket) => {
    socket.once('connect', () => {
      phase = 'encrypted' in socket ? 'handshake' : 'connected'
    })
    socket.once('secureConnect', () => {
      phase = 'connected'
    })
  })
  return () => phase
}

/** Reads the beginning of an answer. Its status counts even if the rest does not arrive. */
async function discard(answer: IncomingMessage): Promise<void> {
  let size = 0
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > answerBytesMax) return
    }
  } catch {
    // Aborted, or the connection broke.
  }
}

function toAnswer({ statusCode = 0, headers }: IncomingMessage): WebhookAnswer {
  return { status: statusCode, retryAfter: headers['retry-after'] }
}
