import { AsyncLocalStorage } from 'node:async_hooks'
import { vi } from 'vitest'
import type { Database } from '../../src/db/client.ts'

const counting = new AsyncLocalStorage<{ queries: number }>()

/** Runs something and counts the statements that it sends to the database outside of transactions. */
export async function countQueries(db: Database, run: () => Promise<unknown>): Promise<number> {
  const send = db.$client.query.bind(db.$client) as (...args: unknown[]) => unknown
  const count = { queries: 0 }
  const query = vi.spyOn(db.$client, 'query').mockImplementation((...args: unknown[]) => {
    // Not those of background work, such as recording when keys were last used.
    if (counting.getStore() === count) count.queries += 1
    return send(...args)
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
