import { once } from 'node:events'
import { connect } from 'node:net'
import autocannon from 'autocannon'
import type { Subject } from './harness.ts'
import { percentile, roundMs } from './report.ts'

export const connections = 50

export interface Measurement {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

/** Measures a server for a number of seconds. */
export type Load = (subject: Subject, seconds: number) => Promise<Measurement>

export interface Request {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: string
  /** Default: the API keys of the callers of the database in turn. */
  token?: string
}

/** A load that repeats one request on all connections, each response at once followed by the next request. */
export function repeat(requestOf: (subject: Subject) => Request, atOnce = connections): Load {
  return (subject, seconds) => {
    const requests = toRequests(subject, requestOf(subject))
    let connection = 0
    return cannon(subject, seconds, {
      connections: atOnce,
      requests,
      // Each connection begins with another caller, so that the requests in flight are of different callers.
      setupClient: (client) => {
        const first = connection++ % requests.length
        client.setRequests([...requests.slice(first), ...requests.slice(0, first)])
      },
    })
  }
}

/** A load of requests that are all different, such as of tokens that can be used once. */
export function sendNext(nextOf: (subject: Subject) => Request, atOnce = connections): Load {
  return (subject, seconds) =>
    cannon(subject, seconds, {
      connections: atOnce,
      requests: [
        {
          setupRequest: (request) => ({
            ...request,
            ...toCannonRequest(nextOf(subject)),
          }),
        },
      ],
    })
}

async function cannon(
  { name, origin }: Subject,
  seconds: number,
  options: Partial<autocannon.Options>,
): Promise<Measurement> {
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
  return { requestsPerSecond: result['2xx'] / duration, p50Ms: latency.p50, p99Ms: latency.p99 }
}

function toRequests({ database }: Subject, request: Request) {
  const tokens = request.token === undefined ? database.callers : [request.token]
  return tokens.map((token) => toCannonRequest({ ...request, token }))
}

function toCannonRequest({ method = 'GET', path, headers, body, token }: Request): autocannon.Request {
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

/**
 * A load of GET requests that arrive at a constant rate, whether or not the ones before are answered: those of each
 * millisecond together, as a timer can. The time of an answer counts from when the request was due, also while it waited
 * for a connection, so that a pause of the server is not left out (coordinated omission). The answers need a
 * Content-Length.
 */
export function sendAtRate(path: string, perSecond: number): Load {
  return async (subject, seconds) => {
    const { hostname, port, host } = new URL(subject.origin)
    const { callers } = subject.database
    const messages = callers.map((token) =>
      Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`),
    )
    const idle = await Promise.all(
      Array.from({ length: connections }, () => openConnection(Number(port), hostname)),
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
        const message = messages[sent++ % messages.length]
        if (!connection || dueAt === undefined || !message) return
        connection.exchange(message, (error) => {
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
      if (performance.now() > limitAt) failure = new Error(`${subject.name} does not answer ${path}`)
      await new Promise((done) => setTimeout(done, 1))
    }
    for (const connection of all) connection.close()
    if (failure) throw failure
    return {
      requestsPerSecond: (total / (performance.now() - start)) * 1000,
      p50Ms: roundMs(percentile(tookMs, 0.5)),
      p99Ms: roundMs(percentile(tookMs, 0.99)),
    }
  }
}

interface Connection {
  /** Sends a request, one at a time, and calls `done` after its answer. */
  exchange: (message: Buffer, done: (error?: Error) => void) => void
  close: () => void
}

/** A connection that costs the load little: it reads only the status and the length of an answer. */
async function openConnection(port: number, host: string): Promise<Connection> {
  const socket = connect({ port, host, noDelay: true })
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
      if (!text.startsWith('HTTP/1.1 200 ') || length === undefined) {
        finish(new Error(`the answer is ${text.split('\r\n', 1)[0]}, of length ${length}`))
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
