import { expect } from 'vitest'

/** Asserts that something takes at most 2 seconds of processor time, and 64 MiB of memory. */
export async function expectCheap(run: () => Promise<void>): Promise<void> {
  const memoryBefore = process.memoryUsage().rss
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(2_000)
  expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(64 * 1024 * 1024)
}
