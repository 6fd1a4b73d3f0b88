import type { Socket } from 'node:net'
import type pg from 'pg'

/** What node-postgres has on a client beyond its types. */
interface ClientInternals {
  connection: {
    stream: Socket
    on(event: 'errorMessage', listener: (error: { code?: string }) => void): void
  }
  /** Whether no query is on its way. */
  readyForQuery: boolean
}

const readOnlyCode = '25006' // read_only_sql_transaction

/**
 * Closes the connections of a pool that lead nowhere; the pool opens others when they are needed. Whatever runs on one
 * fails at once.
 *
 * - A server that says nothing for `silenceMs`, if that is given, during a query is frozen, or the network lost it: TCP
 *   alone may wait for many minutes.
 * - A server that is read-only has been replaced by another one, to which the same name leads by now.
 */
export function keepConnectionsHealthy(pool: pg.Pool, silenceMs: number | undefined): void {
  pool.on('connect', (client) => {
    const internals = client as unknown as ClientInternals
    const { stream } = internals.connection
    if (silenceMs !== undefined) stream.setTimeout(silenceMs)
    stream.on('timeout', () => {
      if (!internals.readyForQuery) stream.destroy(timeoutError())
    })
    internals.connection.on('errorMessage', ({ code }) => {
      // After the query has been told.
      if (code === readOnlyCode) setImmediate(() => stream.destroy())
    })
  })
}

function timeoutError(): Error {
  return Object.assign(new Error('the database server does not answer'), { code: 'ETIMEDOUT' })
}
