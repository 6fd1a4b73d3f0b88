import type { Socket } from 'node:net'
import { drizzle, type NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgDatabase } from 'drizzle-orm/pg-core'
import type pg from 'pg'
import { firstFailure } from './together.ts'

/** The untyped properties of a node-postgres client. */
interface ClientInternals {
  connection: { stream: Socket }
}

/** The first parameter of repository functions: the database, or a transaction. */
export type Executor = Omit<PgDatabase<NodePgQueryResultHKT>, 'transaction'>

/**
 * Sends a statement of a transaction, and leaves its answer to the end: the commit is sent right behind it, and the
 * transaction fails with its error. `send` sends one prepared statement, and does not throw because of the answer.
 */
export type Write = (send: (tx: Executor) => Promise<unknown>) => void

/**
 * Leaves a write of a transaction to its end: behind all other statements, and right before the commit. For writes that
 * take a lock which others wait for, so that nothing is waited for while it is held. They are sent by `order`, and in the
 * order of the calls where that is the same, so that two transactions lock the same rows in the same order. `send` sends
 * one prepared statement. Outside of a transaction it is sent at once.
 */
export function writeLast(
  executor: Executor,
  order: string,
  send: (executor: Executor) => Promise<unknown>,
): Promise<unknown> {
  const entry = entriesOfTransactions.get(executor)
  if (!entry) return send(executor)
  if (!entry.gate.isOpen) throw new Error(sentTooLate)
  entry.last.push({ order, send })
  return Promise.resolve()
}

/**
 * Runs a function in a transaction, which is committed when it returns, and rolled back when it or one of its writes
 * fails. If the connection breaks, the commit may have been carried out.
 */
export type Transact = <Result>(run: (tx: Executor, write: Write) => Promise<Result>) => Promise<Result>

/**
 * Drizzle on a pool, with transactions that wait for few round trips. Their clients send a statement without waiting for
 * the answers to earlier ones (`pipeline` of node-postgres): `begin` is sent with the first statements, and `commit` with
 * the last writes. When one fails, PostgreSQL refuses those behind it, and the commit becomes a rollback. `begin` begins a
 * transaction, with settings for it.
 */
export function openDrizzle(pool: pg.Pool, begin = 'begin') {
  return Object.assign(drizzle({ client: pool }), { transaction: transactOn(pool, begin) })
}

function transactOn(pool: pg.Pool, begin: string): Transact {
  return async (run) => {
    const client = await pool.connect()
    const { tx, gate, last } = entryOf(client)
    last.length = 0
    const { stream } = (client as unknown as ClientInternals).connection
    // In the order of sending: the first that failed is the cause of the others.
    const sent: Promise<unknown>[] = []
    let failures = 0
    const keep = (statement: Promise<unknown>) => {
      sent.push(statement)
      statement.catch(() => (failures += 1))
    }
    const write: Write = (send) => {
      const { count } = gate
      keep(send(tx))
      // Otherwise statements would be carried out in another order than they are written, or after the commit.
      if (gate.count !== count + 1)
        keep(Promise.reject(new Error('a write did not send one statement at once')))
    }
    try {
      gate.isOpen = true
      holdForThisTurn(stream)
      keep(client.query(begin))
      const result = await run(tx, write)
      stream.cork()
      for (const { send } of last.sort(byOrder)) write(send)
      await failuresToSend()
      gate.isOpen = false
      if (failures === 0) keep(commit(client))
      stream.uncork()
      const failure = await firstFailure(sent)
      if (failure) throw failure.reason
      return result
    } catch (error) {
      gate.isOpen = false
      // On a broken connection it fails as well, and the pool closes the connection.
      await client.query('rollback').catch(() => undefined)
      const failure = await firstFailure(sent)
      throw failure ? failure.reason : error
    } finally {
      client.release()
    }
  }
}

/** Sends what is written in this turn of the event loop at once. Writing to a socket costs more than making a statement. */
function holdForThisTurn(stream: Socket): void {
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/** Waits until writes that could not be sent have failed. The server knows nothing of them, and would commit the others. */
function failuresToSend(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}

async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('commit')
  // After a failed statement PostgreSQL rolls back instead, and calls that a success.
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
}

interface LastWrite {
  order: string
  send: (tx: Executor) => Promise<unknown>
}

/** In the order of the code units, which is the same in every process. */
function byOrder(a: LastWrite, b: LastWrite): number {
  if (a.order === b.order) return 0
  return a.order < b.order ? -1 : 1
}

/** Drizzle on a client, behind a gate that is closed while there is no transaction. */
interface Entry {
  tx: Executor
  gate: { isOpen: boolean; count: number }
  /** What `writeLast` has left to the end. */
  last: LastWrite[]
}

const sentTooLate = 'a statement was sent after the end of its transaction'

// One for each client, so that its statements are prepared once.
const entries = new WeakMap<pg.PoolClient, Entry>()
const entriesOfTransactions = new WeakMap<Executor, Entry>()

function entryOf(client: pg.PoolClient): Entry {
  let entry = entries.get(client)
  if (!entry) {
    const gate = {
      isOpen: false,
      count: 0,
      query(...args: [pg.QueryConfig, unknown[]]) {
        // It would be carried out on its own.
        if (!gate.isOpen) throw new Error(sentTooLate)
        gate.count += 1
        holdForThisTurn((client as unknown as ClientInternals).connection.stream)
        return client.query(...args)
      },
    }
    entry = { tx: drizzle({ client: gate as unknown as pg.PoolClient }), gate, last: [] }
    entries.set(client, entry)
    entriesOfTransactions.set(entry.tx, entry)
  }
  return entry
}
