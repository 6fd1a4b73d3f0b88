import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from '../app-types.ts'

export interface SlowReadersOptions {
  /** How long a client may read nothing of a waiting response, in milliseconds. */
  stalledMsMax: number
  /** The maximum size of the responses that wait for all clients, in bytes. */
  waitingBytesMax: number
}

export const slowReadersDefaults: SlowReadersOptions = {
  stalledMsMax: 30_000,
  waitingBytesMax: 64 * 1024 * 1024,
}

/** The complete responses that the client of a connection has not read yet. */
interface Backlog {
  address: string
  bytes: number
}

/**
 * Disconnects clients that do not read their responses, which stay in memory otherwise: a client that reads nothing for
 * `stalledMsMax`, and, while more than `waitingBytesMax` wait, the oldest connection of the address with the most
 * waiting bytes.
 */
export function registerSlowReaders(app: App, options: SlowReadersOptions): void {
  const { stalledMsMax, waitingBytesMax } = options
  const backlogs = new Map<Socket, Backlog>()
  let waitingBytes = 0

  function add(socket: Socket, response: ServerResponse): void {
    // Includes responses that wait for an earlier one on the connection (pipelining, RFC 9112 §9.3.2).
    const bytes = response.writableLength
    // The kernel takes most responses at once.
    if (bytes === 0 || socket.destroyed) return
    let backlog = backlogs.get(socket)
    if (!backlog) {
      backlog = { address: socket.remoteAddress ?? '', bytes: 0 }
      backlogs.set(socket, backlog)
      socket.once('close', () => drop(socket))
    }
    backlog.bytes += bytes
    waitingBytes += bytes
    response.once('finish', () => {
      if (!backlogs.has(socket)) return
      backlog.bytes -= bytes
      waitingBytes -= bytes
    })
    while (waitingBytes > waitingBytesMax) disconnect(findSlowest(backlogs))
  }

  function drop(socket: Socket): void {
    waitingBytes -= backlogs.get(socket)?.bytes ?? 0
    backlogs.delete(socket)
  }

  function disconnect(socket: Socket): void {
    app.log.info('disconnected a client that did not read its response')
    drop(socket)
    // A reset also frees the send buffer of the kernel.
    socket.resetAndDestroy()
  }

  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // The timeout starts again with each write, and whenever the client reads.
    response.setTimeout(stalledMsMax).on('timeout', () => {
      if (socket.writableLength > 0) disconnect(socket)
    })
    // There is no event for the end of a response that waits for an earlier one.
    const end = response.end.bind(response) as (...input: unknown[]) => ServerResponse
    response.end = (...input: unknown[]) => {
      end(...input)
      add(socket, response)
      return response
    }
  })
}

/** The oldest connection of the address with the most waiting bytes. */
function findSlowest(backlogs: ReadonlyMap<Socket, Backlog>): Socket {
  const bytesOf = new Map<string, number>()
  for (const { address, bytes } of backlogs.values())
    bytesOf.set(address, (bytesOf.get(address) ?? 0) + bytes)
  const most = Math.max(...bytesOf.values())
  for (const [socket, { address, bytes }] of backlogs)
    if (bytes > 0 && bytesOf.get(address) === most) return socket
  throw new Error('there is no backlog')
}
