import { expect } from 'vitest'

/**
 * Asserts that a function takes processor time in proportion to the length of its input, on any machine: four times as much
 * for a text of four times the length, where one that tries each way to divide a text takes sixteen times as much. The length
 * must be so large that this would take more than the half millisecond that is noise.
 */
export async function expectLinear(
  run: (length: number) => unknown,
  length: number,
  what?: string,
): Promise<void> {
  await run(length)
  const once = await leastMs(() => run(length))
  const fourTimes = await leastMs(() => run(4 * length))
  expect(fourTimes / Math.max(once, 0.5), what).toBeLessThan(10)
}

/** The processor time of a run in milliseconds, as the least of five: other work of the process makes it longer, never shorter. */
async function leastMs(run: () => unknown): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const before = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1_000)
  }
  return Math.min(...times)
}
