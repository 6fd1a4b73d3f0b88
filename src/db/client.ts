import type { NodePgDatabase, NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgDatabase } from 'drizzle-orm/pg-core'
import pg from 'pg'
import { keepConnectionsHealthy } from './connection-health.ts'
import { PoolShare } from './pool-share.ts'
import { openDrizzle } from './transactions.ts'

/** The database itself: what services open transactions on. */
export type Database = NodePgDatabase & { $client: pg.Pool }

/** What repositories work with: the database, or a transaction on it. */
export type Executor = PgDatabase<NodePgQueryResultHKT>

/** How long each step may take, in milliseconds. */
interface Limits {
  /** Waiting for a connection, whether for one to be free or for a new one. */
  connectMs: number
  /** Waiting for a lock that somebody else holds. */
  lockMs: number
  /** A statement in all, its waiting for locks included. */
  statementMs: number
  /** A server that says nothing during a statement: one that is frozen, dead or out of reach. */
  silenceMs?: number
}

/**
 * For what somebody waits for: a request that meets a database in trouble is answered within six seconds, and its
 * connection is free for others again.
 */
export const requestLimits: Limits = { connectMs: 1_000, lockMs: 1_500, statementMs: 2_500, silenceMs: 2_900 }

/** For jobs, migrations and operators' commands, which nobody waits for. */
export const workLimits: Limits = { connectMs: 10_000, lockMs: 10_000, statementMs: 60_000 }

export interface DatabaseOptions {
  url: string
  /** The most connections that are opened. */
  poolMax: number
  limits: Limits
  /** Told of a connection that broke while idle; the pool replaces it by itself. */
  onIdleError: (error: Error) => void
}

/** Opens a pool of connections, each on first use. */
export function openDatabase({ url, poolMax, limits, onIdleError }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolMax,
    application_name: 'workspace-service',
    connectionTimeoutMillis: limits.connectMs,
    lock_timeout: limits.lockMs,
    statement_timeout: limits.statementMs,
    idle_in_transaction_session_timeout: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
  })
  pool.on('error', onIdleError)
  keepConnectionsHealthy(pool, limits.silenceMs)
  return openDrizzle(pool)
}

/**
 * The same database for one kind of work, of whose connections it uses at most half: what waits for a lock in one area
 * leaves the others theirs. A statement waits a second and a half for its turn, and then fails as if there were no connection.
 */
export function shareOf({ $client: pool }: Database): Database {
  return openDrizzle(new PoolShare(pool, Math.ceil(pool.options.max / 2)))
}
