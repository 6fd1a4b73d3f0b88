import { once } from 'node:events'
import { connect } from 'node:net'
import autocannon from 'autocannon'
import type { Subject } from './harness.ts'
import { percentile, roundMs } from './report.ts'
import { hasWrk, sendByWrk, type WrkOptions } from './wrk.ts'

export const connections = 50

/** What a load measures. */
export interface LoadResult {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  /** The requests that were sent, where the server has answered them all and no others. */
  requests?: number
}

/** Puts a server under load for a number of seconds. */
export type Load = (subject: Subject, seconds: number) => Promise<LoadResult>

export interface Request {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: string
  /** Default: the API keys of the callers of the database in turn. */
  token?: string
}

/** The value at a place, beginning again after the last one. */
export function pick<Value>(values: readonly Value[], place: number): Value {
  const value = values[place % values.length]
  if (value === undefined) throw new Error('there is nothing to pick from')
  return value
}

/** A load that repeats one or several requests on all connections, each response at once followed by the next request. */
export function repeat(
  requestOf: (subject: Subject) => Request | readonly Request[],
  atOnce = connections,
): Load {
  return async (subject, seconds) => {
    const requests = [requestOf(subject)].flat().flatMap((request) => {
      const tokens = request.token === undefined ? subject.database.callers : [request.token]
      return tokens.map((token) => ({ ...request, token }))
    })
    if (hasWrk) return byWrk(subject, seconds, { requests, connections: atOnce, repeats: true })
    let connection = 0
    return byAutocannon(subject, seconds, {
      connections: atOnce,
      requests: requests.map(toCannonRequest),
      // Each connection begins with another caller, so that the requests in flight are of different callers.
      setupClient: (client) => {
        const first = connection++ % requests.length
        client.setRequests([...requests.slice(first), ...requests.slice(0, first)].map(toCannonRequest))
      },
    })
  }
}

/** More than a connection can send in a second where each request changes something. */
const changesPerSecond = 200

/**
 * A load of requests that are all different, such as of tokens that can be used once: each server is sent the one with
 * number 0, 1, …, as long as there are any. Throws when there are too few.
 */
export function sendNext(
  requestOf: (place: number, subject: Subject) => Request | undefined,
  atOnce = connections,
): Load {
  const places = new Map<Subject, number>()
  return async (subject, seconds) => {
    const first = places.get(subject) ?? 0
    if (hasWrk) {
      const requests: Request[] = []
      const count = Math.ceil(changesPerSecond * atOnce * seconds)
      for (let request; requests.length < count && (request = requestOf(first + requests.length, subject));)
        requests.push(request)
      const result = await byWrk(subject, seconds, { requests, connections: atOnce, repeats: false })
      // wrk takes one more, to check the script.
      places.set(subject, first + result.requests + 1)
      return result
    }
    let place = first
    const setupRequest = (request: autocannon.Request) => {
      const next = requestOf(place++, subject)
      if (!next) throw new Error('there are too few requests')
      return { ...request, ...toCannonRequest(next) }
    }
    const result = await byAutocannon(subject, seconds, { connections: atOnce, requests: [{ setupRequest }] })
    places.set(subject, place)
    return result
  }
}

/** Sends requests by wrk, a process of its own. */
export async function byWrk(
  subject: Subject,
  seconds: number,
  { requests, ...options }: { requests: readonly Request[] } & Omit<WrkOptions, 'seconds'>,
) {
  const { host } = new URL(subject.origin)
  const messages = requests.map((request) => toMessage(request, host))
  const { sent, ...result } = await sendByWrk(subject, messages, { seconds, ...options })
  return { ...result, p50Ms: roundMs(result.p50Ms), p99Ms: roundMs(result.p99Ms), requests: sent }
}

/** A request as it goes over the wire. */
function toMessage(request: Request, host: string): string {
  const { method, path, headers, body = '' } = toCannonRequest(request)
  const length = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries({ host, ...headers, ...length }).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

async function byAutocannon(
  { name, origin }: Subject,
  seconds: number,
  options: Partial<autocannon.Options>,
): Promise<LoadResult> {
  const { errors, non2xx, duration, latency, ...result } = await autocannon({
    ...options,
    url: origin,
    duration: seconds,
    // It ends at the end of a sample.
    sampleInt: 100,
  })
  if (non2xx > 0 || errors > 0) {
    const codes = Object.keys(result.statusCodeStats ?? {}).join(', ')
    throw new Error(`${name}: ${non2xx} answers with errors (of ${codes}), and ${errors} connections failed`)
  }
  const answered = result['2xx']
  return {
    requestsPerSecond: answered / duration,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    requests: answered,
  }
}

function toCannonRequest({ method = 'GET', path, headers, body, token }: Request) {
  return {
    method,
    path,
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      authorization: `Bearer ${token}`,
    },
    ...(body !== undefined && { body }),
  }
}

/** A load of GET requests that arrive at a constant rate (see `sendRequestsAtRate`). */
export function sendAtRate(path: string, perSecond: number): Load {
  return ({ origin, database: { callers } }, seconds) =>
    sendRequestsAtRate({
      origins: [origin],
      host: new URL(origin).host,
      perSecond,
      seconds,
      requestOf: (place) => ({ path, token: pick(callers, place) }),
    })
}

/**
 * Sends requests that arrive at a constant rate, whether or not the ones before are answered: those of each millisecond
 * together, as a timer can. The time of an answer counts from when the request was due, also while it waited for a
 * connection, so that a pause of the server is not left out (coordinated omission). Several servers get them in turn, as
 * behind a load balancer, whose name is `host`. The answers need a Content-Length.
 */
export async function sendRequestsAtRate(options: {
  origins: readonly string[]
  host: string
  perSecond: number
  seconds: number
  requestOf: (place: number) => Request
}): Promise<LoadResult> {
  const { origins, host, perSecond, seconds, requestOf } = options
  const idle = await Promise.all(
    Array.from({ length: connections }, (_, i) => openConnection(new URL(pick(origins, i)))),
  )
  const all = [...idle]
  const tookMs: number[] = []
  const waiting: number[] = []
  let sent = 0
  let failure: Error | undefined

  const sendWaiting = () => {
    while (waiting.length > 0 && idle.length > 0) {
      const connection = idle.shift()
      const dueAt = waiting.shift()
      if (!connection || dueAt === undefined) return
      connection.exchange(toMessage(requestOf(sent++), host), (error) => {
        failure ??= error
        tookMs.push(performance.now() - dueAt)
        idle.push(connection)
        sendWaiting()
      })
    }
  }

  const total = Math.round(perSecond * seconds)
  const start = performance.now()
  for (let due = 0; due < total && !failure;) {
    const passedMs = Math.floor(performance.now() - start)
    for (; due < total && due < (passedMs * perSecond) / 1000; due++)
      waiting.push(start + Math.ceil((due * 1000) / perSecond))
    sendWaiting()
    await new Promise((done) => setTimeout(done, 1))
  }
  const limitAt = performance.now() + 10_000
  while (tookMs.length < total && !failure) {
    if (performance.now() > limitAt) failure = new Error(`${origins.join(', ')} does not answer`)
    await new Promise((done) => setTimeout(done, 1))
  }
  for (const connection of all) connection.close()
  if (failure) throw failure
  return {
    requests: total,
    requestsPerSecond: (total / (performance.now() - start)) * 1000,
    p50Ms: roundMs(percentile(tookMs, 0.5)),
    p99Ms: roundMs(percentile(tookMs, 0.99)),
  }
}

interface Connection {
  /** Sends a request, one at a time, and calls `done` after its answer. */
  exchange: (message: string, done: (error?: Error) => void) => void
  close: () => void
}

/** A connection that costs the load little: it reads only the status and the length of an answer. */
async function openConnection({ port, hostname }: URL): Promise<Connection> {
  const socket = connect({ port: Number(port), host: hostname, noDelay: true })
  await once(socket, 'connect')
  let head = Buffer.alloc(0)
  let missingBytes = 0
  let done: ((error?: Error) => void) | undefined
  const finish = (error?: Error) => {
    const answered = done
    done = undefined
    answered?.(error)
  }
  socket.on('data', (chunk) => {
    if (missingBytes > 0) missingBytes -= chunk.length
    else {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      const text = head.toString('latin1', 0, end)
      const length = /^content-length: (\d+)$/im.exec(text)?.[1]
      if (!/^HTTP\/1\.1 20[01] /.test(text) || length === undefined) {
        finish(new Error(`the answer is ${head.toString('utf8').replace(/\r\n[^]*\r\n\r\n/, ' ')}`))
        return
      }
      missingBytes = end + 4 + Number(length) - head.length
      head = Buffer.alloc(0)
    }
    if (missingBytes === 0) finish()
  })
  socket.on('error', finish)
  socket.on('close', () => finish(new Error('the connection was closed')))
  return {
    exchange(message, onAnswer) {
      done = onAnswer
      socket.write(message)
    },
    close() {
      done = undefined
      socket.destroy()
    },
  }
}
