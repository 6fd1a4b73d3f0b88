import { vi } from 'vitest'
import type { Database } from '../../src/db/client.ts'

/** Runs something and counts the statements that it sends to the database outside of transactions. */
export async function countQueries(db: Database, run: () => Promise<unknown>): Promise<number> {
  const query = vi.spyOn(db.$client, 'query')
  try {
    await run()
    return query.mock.calls.length
  } finally {
    query.mockRestore()
  }
}
