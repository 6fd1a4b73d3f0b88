import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRecentCallers } from '../../src/http/limits/recent-callers.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

it('remembers a caller for the window after it was last added', () => {
  const callers = createRecentCallers({ windowMs: 1000, max: 2 })
  expect(callers.has('a')).toBe(false)
  callers.add('a')
  vi.advanceTimersByTime(600)
  callers.add('a')
  vi.advanceTimersByTime(999)
  expect(callers.has('a')).toBe(true)
  vi.advanceTimersByTime(1)
  expect(callers.has('a')).toBe(false)
})

it('remembers at most the maximum number of callers, and forgets the oldest first', () => {
  const callers = createRecentCallers({ windowMs: 1000, max: 2 })
  for (const caller of ['a', 'b', 'a', 'c']) callers.add(caller)
  expect(['a', 'b', 'c'].map((caller) => callers.has(caller))).toEqual([true, false, true])
})
