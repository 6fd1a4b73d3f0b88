import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { vi } from 'vitest'

const counting = new AsyncLocalStorage<{ queries: number }>()

/** Runs something and counts the statements that it sends to the database outside of transactions. */
export async function countQueries(run: () => Promise<unknown>): Promise<number> {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with the pool as `this` below
  const send = pg.Pool.prototype.query as (...args: unknown[]) => unknown
  const count = { queries: 0 }
  const query = vi.spyOn(pg.Pool.prototype, 'query').mockImplementation(function (
    this: unknown,
    ...args: unknown[]
  ) {
    // Not those of background work, such as recording when keys were last used.
    if (counting.getStore() === count) count.queries += 1
    return send.apply(this, args)
  })
  try {
    // Awaited inside: `inject` sends a request only when its result is awaited.
    await counting.run(count, async () => {
      await run()
    })
    return count.queries
  } finally {
    query.mockRestore()
  }
}
