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

it('writes later what a write could not write, unless something newer took its place', async () => {
  const written: object[] = []
  const { add, close } = createWriteBehind<{ key: string; at: number }>({
    keyOf: ({ key }) => key,
    merge: (_before, entry) => entry,
    async write(entries, retry) {
      written.push(...entries)
      if (written.length > 2) return
      for (const entry of entries) retry(entry)
      add({ key: 'b', at: 2 })
    },
    onError: (error) => expect.fail(String(error)),
  })
  for (const key of ['a', 'b']) add({ key, at: 1 })
  await vi.advanceTimersByTimeAsync(1_000)
  await close()
  expect(written.slice(2)).toEqual([
    { key: 'a', at: 1 },
    { key: 'b', at: 2 },
  ])
})
