import pg from 'pg'
import { countLostConnections, keepConnectionsHealthy } from './connection-health.ts'
import { PoolShare } from './pool-share.ts'
import { openDrizzle, type Executor, type Transact } from './transactions.ts'

export type { Executor }

/** The database, on which services open transactions. */
export type Database = Executor & { $client: pg.Pool; transaction: Transact }

/** Timeouts, in milliseconds. */
export interface Limits {
  /** For a connection of the pool, free or new. */
  connectMs: number
  /** For a lock. */
  lockMs: number
  /** For a statement, including its waits for locks. */
  statementMs: number
  /** For any data from the server during a statement. Detects a frozen or unreachable server. */
  silenceMs?: number
}

/** For requests: while the database is in trouble they fail within six seconds and free their connection. */
export const requestLimits: Limits = { connectMs: 1_500, lockMs: 1_500, statementMs: 2_500, silenceMs: 2_900 }

/** For jobs, migrations and commands, which may take longer. */
export const workLimits: Limits = { connectMs: 10_000, lockMs: 10_000, statementMs: 60_000 }

export interface DatabaseOptions {
  /** If it is a function, each new connection asks for it, so that the password may change. */
  url: string | (() => string)
  /** The maximum number of connections. */
  poolMax: number
  limits: Limits
  /**
   * The mode of a pooler on the way. In transaction mode each statement outside of a transaction, and each transaction,
   * may have another connection to the server. Default: session, also for no pooler.
   */
  pooler?: 'session' | 'transaction'
  /** Called when an idle connection breaks. The pool replaces it. */
  onIdleError: (error: Error) => void
}

/** Creates a pool, which opens connections on demand. */
export function openDatabase(options: DatabaseOptions): Database {
  const { url, poolMax, limits, pooler = 'session', onIdleError } = options
  const hasSessions = pooler === 'session'
  const Client = hasSessions ? pg.Client : UnnamedClient
  const pool = new pg.Pool({
    ...(typeof url === 'string' ? { Client, connectionString: url } : { Client: connectTo(url, Client) }),
    max: poolMax,
    application_name: 'workspace-service',
    connectionTimeoutMillis: limits.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    pipeline: true,
  })
  pool.on('error', onIdleError)
  pool.on('connect', (client) => {
    if (!hasSessions) return
    // Not by parameters of the connection, which PgBouncer refuses. Sent together with the first statement. If it fails, so
    // does the connection.
    const setting = settings(limits).map(([name, value]) => `set ${name} = '${value}'`)
    client.query(setting.join('; ')).catch(() => undefined)
  })
  keepConnectionsHealthy(pool, limits.silenceMs)
  if (!hasSessions) beginOf.set(pool, describeBegin(limits))
  return openDrizzle(pool, beginOf.get(pool))
}

/** How transactions on a pool begin, if not by `begin` alone. */
const beginOf = new WeakMap<pg.Pool, string>()

/** Sets the timeouts for the transaction: behind a pooler in transaction mode, a session may be that of others. */
function describeBegin(limits: Limits): string {
  return ['begin', ...settings(limits).map(([name, value]) => `set local ${name} = '${value}'`)].join('; ')
}

/** A client that names no statements. A named one is there only in the session that has prepared it. */
class UnnamedClient extends pg.Client {
  override query(...[statement, ...rest]: unknown[]): never {
    const unnamed =
      typeof statement === 'object' && statement !== null && 'name' in statement
        ? { ...statement, name: undefined }
        : statement
    return (super.query as (...args: unknown[]) => never)(unnamed, ...rest)
  }
}

/** A client whose URL is read when it is made. */
function connectTo(readUrl: () => string, Client: typeof pg.Client): typeof pg.Client {
  return class extends Client {
    constructor(options?: pg.ClientConfig) {
      super({ ...options, connectionString: readUrl() })
    }
  }
}

/** The settings of each connection, as the server shows them. */
function settings({ lockMs, statementMs }: Limits): [name: string, value: string][] {
  return [
    ['lock_timeout', `${lockMs}ms`],
    ['statement_timeout', `${statementMs}ms`],
    ['idle_in_transaction_session_timeout', '30000ms'],
  ]
}

/**
 * Asks one connection whether the timeouts are in force for a statement outside of a transaction. Behind a pooler in
 * transaction mode, they are if the pooler sets them (docs/operations.md).
 */
export async function areLimitsInForce({ $client: pool }: Database, limits: Limits): Promise<boolean> {
  const { rows } = await pool.query<{ areInForce: boolean }>(
    `select bool_and(current_setting(name)::interval = value::interval) as "areInForce"
      from unnest($1::text[], $2::text[]) as expected (name, value)`,
    [settings(limits).map(([name]) => name), settings(limits).map(([, value]) => value)],
  )
  return rows[0]?.areInForce === true
}

/**
 * The same database, limited to half of the connections of its pool, so that one area whose statements wait for a lock
 * leaves connections to others. A caller that waits for its share longer than `connectMs` fails as if the pool
 * were exhausted.
 */
export function shareOf({ $client: pool }: Database): Database {
  const share = new PoolShare(pool, Math.ceil(pool.options.max / 2))
  sharesOf.set(pool, [...(sharesOf.get(pool) ?? []), share])
  return openDrizzle(share, beginOf.get(pool))
}

const sharesOf = new WeakMap<pg.Pool, PoolShare[]>()

/** The connections of a database's pool, and who waits for one, also for one of a share. */
export function describePool({ $client: pool }: Database) {
  const { totalCount: total, idleCount: idle, waitingCount } = pool
  const shares = sharesOf.get(pool) ?? []
  const waiting = shares.reduce((sum, { waitingForShare }) => sum + waitingForShare, waitingCount)
  return { total, idle, waiting, max: pool.options.max, lost: countLostConnections(pool) }
}
