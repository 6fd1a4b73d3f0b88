import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { App } from './app-types.ts'

export interface SlowReadersOptions {
  /** How long a client may take nothing of an answer that waits for it. */
  stalledMsMax: number
  /** The most bytes of answers that wait for all clients together. */
  waitingBytesMax: number
}

export const slowReadersDefaults: SlowReadersOptions = {
  stalledMsMax: 30_000,
  waitingBytesMax: 64 * 1024 * 1024,
}

/** The answers that are complete, and that the client of a connection has not taken yet. */
interface Backlog {
  address: string
  bytes: number
}

/**
 * Cuts off clients that do not read their answers, which otherwise stay in memory: those that take nothing for
 * `stalledMsMax`, and, where more than `waitingBytesMax` wait in all, the longest waiting connection of the address for
 * which the most waits.
 */
export function registerSlowReaders(app: App, options: SlowReadersOptions): void {
  const { stalledMsMax, waitingBytesMax } = options
  const backlogs = new Map<Socket, Backlog>()
  let waitingBytes = 0

  function add(socket: Socket, response: ServerResponse): void {
    // Also of an answer that waits for an earlier one: requests may come without waiting (RFC 9112 §9.3.2).
    const bytes = response.writableLength
    // Most answers are taken by the kernel at once.
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
    while (waitingBytes > waitingBytesMax) cutOff(findSlowest(backlogs))
  }

  function drop(socket: Socket): void {
    waitingBytes -= backlogs.get(socket)?.bytes ?? 0
    backlogs.delete(socket)
  }

  function cutOff(socket: Socket): void {
    app.log.info('a client that did not read its answer was cut off')
    drop(socket)
    // With a reset the kernel drops what it holds for the client as well.
    socket.resetAndDestroy()
  }

  app.server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // The time starts again with all that is written, and with all that the client takes of it.
    response.setTimeout(stalledMsMax).on('timeout', () => {
      if (socket.writableLength > 0) cutOff(socket)
    })
    // No event tells of the end of an answer that waits for an earlier one.
    const end = response.end.bind(response) as (...input: unknown[]) => ServerResponse
    response.end = (...input: unknown[]) => {
      end(...input)
      add(socket, response)
      return response
    }
  })
}

/** The oldest connection of the address for which the most waits. */
function findSlowest(backlogs: ReadonlyMap<Socket, Backlog>): Socket {
  const bytesOf = new Map<string, number>()
  for (const { address, bytes } of backlogs.values())
    bytesOf.set(address, (bytesOf.get(address) ?? 0) + bytes)
  const most = Math.max(...bytesOf.values())
  for (const [socket, { address, bytes }] of backlogs)
    if (bytes > 0 && bytesOf.get(address) === most) return socket
  throw new Error('nothing waits')
}
