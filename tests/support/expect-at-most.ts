import { expect } from 'vitest'

/**
 * Asserts that something takes at most some times as long as what it is held against, on any machine. Both run in turns, and
 * each counts as its fastest run of up to fifty: other programs make a run slower, and none faster.
 */
export async function expectAtMost(
  timesMax: number,
  run: () => Promise<unknown>,
  reference: () => Promise<unknown>,
): Promise<void> {
  const fastest = { run: Infinity, reference: Infinity }
  const ratio = () => fastest.run / fastest.reference
  for (let round = 0; round < 5 || (round < 50 && ratio() > timesMax); round++) {
    fastest.reference = Math.min(fastest.reference, await elapsedMs(reference))
    fastest.run = Math.min(fastest.run, await elapsedMs(run))
  }
  expect(ratio(), JSON.stringify(fastest)).toBeLessThanOrEqual(timesMax)
}

async function elapsedMs(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await run()
  return performance.now() - begun
}
