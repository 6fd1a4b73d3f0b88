import type { Socket } from 'node:net'
import type pg from 'pg'
import { lostStatementCodes } from './errors.ts'

/** The untyped properties of a node-postgres client. */
interface ClientInternals {
  connection: {
    stream: Socket
    on(event: 'errorMessage', listener: (error: { code?: string }) => void): void
  }
  /** Whether no query is running. */
  readyForQuery: boolean
}

const statementsLostMs = 60_000
const statementsLostAt = new WeakMap<pg.Pool, number>()

/** Whether prepared statements of a pool were lost within the last minute, as behind a pooler in transaction mode. */
export function hasLostStatements(pool: pg.Pool): boolean {
  return performance.now() - (statementsLostAt.get(pool) ?? -Infinity) < statementsLostMs
}

const connectionsLost = new WeakMap<pg.Pool, number>()

/** How many connections of a pool have broken since it was opened. */
export function countLostConnections(pool: pg.Pool): number {
  return connectionsLost.get(pool) ?? 0
}

const readOnlyCode = '25006' // read_only_sql_transaction

/**
 * Closes the dead connections of a pool, which opens new ones on demand. Queries on a closed connection fail at once.
 *
 * - After `silenceMs` without data during a query, the server is considered frozen or unreachable. TCP alone may take
 *   many minutes to notice.
 * - After a read-only error, the server is considered replaced: its name may already resolve to the new primary.
 * - After a prepared statement was lost, so are the others of the connection.
 */
export function keepConnectionsHealthy(pool: pg.Pool, silenceMs: number | undefined): void {
  pool.on('connect', (client) => {
    // Without a listener, an error between two queries of a checked-out client would end the process. The next query
    // reports it.
    client.on('error', () => undefined)
    client.once('error', () => connectionsLost.set(pool, countLostConnections(pool) + 1))
    const internals = client as unknown as ClientInternals
    const { stream } = internals.connection
    if (silenceMs !== undefined) stream.setTimeout(silenceMs)
    stream.on('timeout', () => {
      if (!internals.readyForQuery) stream.destroy(timeoutError())
    })
    internals.connection.on('errorMessage', ({ code = '' }) => {
      const isLost = lostStatementCodes.has(code)
      if (isLost) statementsLostAt.set(pool, performance.now())
      // After the query has received the error.
      if (isLost || code === readOnlyCode) setImmediate(() => stream.destroy())
    })
  })
}

function timeoutError(): Error {
  return Object.assign(new Error('the database server does not respond'), { code: 'ETIMEDOUT' })
}
