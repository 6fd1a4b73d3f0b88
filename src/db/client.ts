import { drizzle, type NodePgDatabase, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgDatabase } from 'drizzle-orm/pg-core'
import pg from 'pg'

/** The database itself: what services open transactions on. */
export type Database = NodePgDatabase & { $client: pg.Pool }

/** What repositories work with: the database, or a transaction on it. */
export type Executor = PgDatabase<NodePgQueryResultHKT>

export interface DatabaseOptions {
  url: string
  /** The most connections that this process opens. */
  poolMax: number
  /** Told of a connection that broke while idle; the pool replaces it by itself. */
  onIdleError: (error: Error) => void
}

/**
 * Opens a pool of connections, each on first use. A request waits at most five seconds for one, a statement runs at
 * most fifteen: a database in trouble must not pile up requests without end.
 */
export function openDatabase({ url, poolMax, onIdleError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    application_name: 'workspace-service',
    connectionTimeoutMillis: 5_000,
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
  })
  pool.on('error', onIdleError)
  return drizzle({ client: pool })
}
