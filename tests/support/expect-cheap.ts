import { expect } from 'vitest'

/** Asserts that something takes at most 2 seconds and 64 MiB of memory. */
export async function expectCheap(run: () => Promise<void>): Promise<void> {
  const memoryBefore = process.memoryUsage().rss
  const startedAt = performance.now()
  await run()
  expect(performance.now() - startedAt).toBeLessThan(2_000)
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(64 * 1024 * 1024)
}
