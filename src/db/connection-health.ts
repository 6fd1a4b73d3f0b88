import type { Socket } from 'node:net'
import type pg from 'pg'

/** The untyped properties of a node-postgres client. */
interface ClientInternals {
  connection: {
    stream: Socket
    on(event: 'errorMessage', listener: (error: { code?: string }) => void): void
  }
  /** Whether no query is running. */
  readyForQuery: boolean
}

const readOnlyCode = '25006' // read_only_sql_transaction

/**
 * Closes the dead connections of a pool, which opens new ones on demand. Queries on a closed connection fail at once.
 *
 * - After `silenceMs` without data during a query, the server is considered frozen or unreachable. TCP alone may take
 *   many minutes to notice.
 * - After a read-only error, the server is considered replaced: its name may already resolve to the new primary.
 */
export function keepConnectionsHealthy(pool: pg.Pool, silenceMs: number | undefined): void {
  pool.on('connect', (client) => {
    // Without a listener, an error between two queries of a checked-out client would end the process. The next query
    // reports it.
    client.on('error', () => undefined)
    const internals = client as unknown as ClientInternals
    const { stream } = internals.connection
    if (silenceMs !== undefined) stream.setTimeout(silenceMs)
    stream.on('timeout', () => {
      if (!internals.readyForQuery) stream.destroy(timeoutError())
    })
    internals.connection.on('errorMessage', ({ code }) => {
      // After the query has received the error.
      if (code === readOnlyCode) setImmediate(() => stream.destroy())
    })
  })
}

function timeoutError(): Error {
  return Object.assign(new Error('the database server does not respond'), { code: 'ETIMEDOUT' })
}
