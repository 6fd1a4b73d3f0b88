import type pg from 'pg'
import { isConnectionLost } from './errors.ts'
import { hasParsed, holdForThisTurn } from './client-internals.ts'

/** The connections, as long as none of them is slow. */
const lanesMax = 3
/** The statements on the way on one connection: while PostgreSQL runs one, the next is there already. */
const depth = 2
/** A connection is slow when its statement runs for longer. */
const slowMs = 25
const waitMs = 1_500

/** A connection while statements are on the way. */
interface Lane {
  client: Promise<pg.PoolClient>
  inFlight: number
  /** No later than when the statement that runs now began. */
  since: number
  /** Resolves after the last of the statements. */
  last: Promise<unknown>
}

interface Waiting {
  statement: Statement
  since: number
  resolve: (result: Promise<pg.QueryResult>) => void
  reject: (error: Error) => void
}

type Statement = [pg.QueryConfig, unknown[]]

/**
 * A client for Drizzle that sends short statements which only read, and wait for no row locks, over few connections of a
 * pool, one behind the other: waking the process at the other end of a connection costs more than many a statement.
 *
 * A statement that takes long delays only the one behind it. Others go around it, over further connections as far as the
 * pool has them, and fail after 1.5 s as if it had none. When a connection is lost, the statement that waited behind
 * another is sent once more.
 */
export class SharedReads {
  readonly #pool: pg.Pool
  readonly #lanes = new Set<Lane>()
  #waiting: Waiting[] = []
  #isTimed = false

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  query(...statement: Statement): Promise<pg.QueryResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statement, since: performance.now(), resolve, reject })
      this.#sendWaiting()
    })
  }

  #sendWaiting(): void {
    const now = performance.now()
    for (let lane; this.#waiting.length > 0 && (lane = this.#findLane(now));) {
      const next = this.#waiting.shift()
      if (next) next.resolve((lane.last = this.#send(lane, next.statement, lane.last)))
    }
    if (this.#waiting.length === 0 || this.#isTimed) return
    this.#isTimed = true
    setTimeout(() => this.#goAround(), slowMs)
  }

  /** Ends the wait of those for whom there is no connection. */
  #goAround(): void {
    this.#isTimed = false
    const latest = performance.now() - waitMs
    for (const { since, reject } of this.#waiting)
      if (since < latest) reject(new Error('timeout exceeded when trying to connect'))
    this.#waiting = this.#waiting.filter(({ since }) => since >= latest)
    this.#sendWaiting()
  }

  /** The lane with the fewest statements, or a new one. The lanes beyond `lanesMax` get no more, and come to an end. */
  #findLane(now: number): Lane | undefined {
    const lanes = [...this.#lanes].filter(({ since }) => now - since < slowMs).slice(0, lanesMax)
    const free = lanes.filter(({ inFlight }) => inFlight < depth)
    if (free.length > 0) return free.reduce((a, b) => (b.inFlight < a.inFlight ? b : a))
    if (lanes.length === lanesMax) return undefined
    const lane: Lane = { client: this.#pool.connect(), inFlight: 0, since: now, last: Promise.resolve() }
    this.#lanes.add(lane)
    return lane
  }

  async #send(lane: Lane, statement: Statement, before: Promise<unknown>): Promise<pg.QueryResult> {
    const isBehind = lane.inFlight > 0
    lane.inFlight += 1
    let client: pg.PoolClient | undefined
    try {
      client = await lane.client
      // If the one before is the same statement and cannot be parsed, such as because of a lock, this one would be lost.
      if (isBehind && !hasParsed(client, statement[0])) await before.catch(() => undefined)
      holdForThisTurn(client)
      return await client.query(...statement)
    } catch (error) {
      if (isBehind && isConnectionLost(error)) return await this.#pool.query(...statement)
      throw error
    } finally {
      lane.inFlight -= 1
      lane.since = performance.now()
      this.#sendWaiting()
      if (lane.inFlight === 0) {
        this.#lanes.delete(lane)
        client?.release()
      }
    }
  }
}
