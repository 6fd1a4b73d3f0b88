import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { App } from '../app-types.ts'

/** How long a process that stops accepts connections that have been waiting. */
const acceptMsMax = 1_000

/**
 * Asks clients to close their connections (RFC 9112 §9.6) while the process is stopping, so that it does not have to
 * close one while a request is in transit.
 */
export function registerDraining(app: App, isStopping: () => boolean): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) void reply.header('connection', 'close')
    done(null, payload)
  })
}

/**
 * Closes a server to new connections, after it has accepted those that wait in the kernel, which would be reset with their
 * requests: Node.js accepts one in each turn of its event loop. Requests are held meanwhile, so that none of their clients
 * connects again, and answered then. Returns what waits for the end of all connections.
 */
export async function stopAccepting(server: Server): Promise<() => Promise<unknown>> {
  const held: Exchange[] = []
  const hold = (...exchange: Exchange) => void held.push(exchange)
  const listeners = server.listeners('request') as ((...exchange: Exchange) => void)[]
  server.removeAllListeners('request').on('request', hold)
  let accepted = 0
  server.on('connection', () => {
    accepted += 1
  })
  const endsAt = performance.now() + acceptMsMax
  // What is left of this turn.
  await setImmediate()
  let before: number
  do {
    before = accepted
    await setImmediate()
  } while (accepted > before && performance.now() < endsAt)
  const closed = once(server, 'close')
  server.close()
  server.off('request', hold)
  for (const listener of listeners) server.on('request', listener)
  for (const exchange of held) server.emit('request', ...exchange)
  return () => closed
}

type Exchange = [IncomingMessage, ServerResponse]
