import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createWriteBehind } from '../../src/concurrency/write-behind.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('keeps what could not be written for the next time, the newest of it up to the limit', async () => {
  const written: number[][] = []
  const errors: unknown[] = []
  let isBroken = true
  const { add, close } = createWriteBehind<number>({
    keyOf: String,
    merge: (_before, entry) => entry,
    waitingMax: 4,
    async write(entries) {
      if (isBroken) throw new Error('broken')
      written.push([...entries])
    },
    onError: (error) => errors.push(error),
  })
  for (const entry of [1, 2, 3]) add(entry)
  await vi.advanceTimersByTimeAsync(1_000)
  for (const entry of [4, 5, 6]) add(entry)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(errors).toHaveLength(2)
  isBroken = false
  await close()
  expect(written).toEqual([[3, 4, 5, 6]])
})
