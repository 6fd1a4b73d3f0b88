import pg from 'pg'

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void

/**
 * A pool that lends at most `max` connections of another pool, for which callers wait as long as for one of that pool.
 * Closing it does not close that pool.
 */
export class PoolShare extends pg.Pool {
  readonly #pool: pg.Pool
  #free: number
  readonly #waiting = new Set<(error?: Error) => void>()

  constructor(pool: pg.Pool, max: number) {
    super({ max })
    this.#pool = pool
    this.#free = max
  }

  override connect(): Promise<pg.PoolClient>
  override connect(callback: ConnectCallback): void
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | void {
    const connecting = this.#connect()
    if (!callback) return connecting
    connecting.then(
      (client) => callback(undefined, client, (release) => client.release(release)),
      (error: unknown) => callback(error as Error, undefined, () => undefined),
    )
  }

  async #connect(): Promise<pg.PoolClient> {
    await this.#take()
    let client
    try {
      client = await this.#pool.connect()
    } catch (error) {
      this.#give()
      throw error
    }
    // The pool sets `release` again for each checkout.
    const release = client.release.bind(client)
    client.release = (destroy) => {
      release(destroy)
      this.#give()
    }
    return client
  }

  /** The callers that wait for a connection of the share. */
  get waitingForShare(): number {
    return this.#waiting.size
  }

  #take(): Promise<void> | void {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    return new Promise((resolve, reject) => {
      const go = (error?: Error) => {
        clearTimeout(timer)
        this.#waiting.delete(go)
        if (error) reject(error)
        else resolve()
      }
      const timer = setTimeout(
        () => go(new Error('timeout exceeded when trying to connect')),
        this.#pool.options.connectionTimeoutMillis,
      )
      this.#waiting.add(go)
    })
  }

  /** Passes the place to the caller that has waited longest. */
  #give(): void {
    const [next] = this.#waiting
    if (next) next()
    else this.#free += 1
  }
}
