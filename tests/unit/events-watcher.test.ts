import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createEventsWatcher } from '../../src/areas/events/events-watcher.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A watcher of workspaces whose positions the test sets. */
function start() {
  const positions = new Map([
    ['a', 1],
    ['b', 1],
  ])
  const readPositions = vi.fn(async (ids: readonly string[]) => {
    return new Map(ids.map((id) => [id, Number(positions.get(id))]))
  })
  const findEnded = vi.fn(async (): Promise<number[]> => [])
  const onReadError = vi.fn()
  const watcher = createEventsWatcher({ readPositions, findEnded, onReadError })
  const watch = (workspaceId: string, onChange: () => void, onEnd: () => void = vi.fn()) =>
    watcher.watch({ workspaceId, userId: 'u', sessionId: 's' }, { onChange, onEnd })
  return { positions, readPositions, findEnded, onReadError, watcher: { watch } }
}

const nextPoll = () => vi.advanceTimersByTimeAsync(1_000)

it('calls the watchers of a changed workspace, once per change', async () => {
  const { positions, watcher } = start()
  const [first, second, other] = [vi.fn(), vi.fn(), vi.fn()]
  await watcher.watch('a', first)
  await watcher.watch('b', other)
  await nextPoll()
  positions.set('a', 2)
  // It has seen the change already.
  await watcher.watch('a', second)
  await nextPoll()
  await nextPoll()
  expect([first, second, other].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 0])
})

it('reads all workspaces in one query, and only while there are watchers', async () => {
  const { readPositions, watcher } = start()
  const stops = [
    await watcher.watch('a', vi.fn()),
    await watcher.watch('a', vi.fn()),
    await watcher.watch('b', vi.fn()),
  ]
  readPositions.mockClear()
  await nextPoll()
  expect(readPositions.mock.calls).toEqual([[['a', 'b']]])
  for (const stop of stops) stop()
  // Not by the number of timers: a connection of another test may have one.
  for (let i = 0; i < 3; i++) await nextPoll()
  expect(readPositions).toHaveBeenCalledTimes(1)
  const onChange = vi.fn()
  await watcher.watch('a', onChange)
  await nextPoll()
  expect(readPositions).toHaveBeenCalledTimes(3)
})

it('does not call a watcher that stopped during the query', async () => {
  const { positions, readPositions, watcher } = start()
  const onChange = vi.fn()
  const stop = await watcher.watch('a', onChange)
  positions.set('a', 2)
  readPositions.mockImplementationOnce(async () => {
    stop()
    return positions
  })
  await nextPoll()
  expect(onChange).not.toHaveBeenCalled()
})

it('waits for the result before it queries again', async () => {
  const { positions, readPositions, watcher } = start()
  const onChange = vi.fn()
  await watcher.watch('a', onChange)
  readPositions.mockClear()
  let answer: (found: Map<string, number>) => void = () => undefined
  readPositions.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(readPositions).toHaveBeenCalledTimes(1)
  // One who comes meanwhile has a newer position than the answer.
  const late = vi.fn()
  positions.set('a', 3)
  await watcher.watch('a', late)
  answer(new Map([['a', 2]]))
  await nextPoll()
  expect(onChange).toHaveBeenCalledTimes(2)
  expect(late).not.toHaveBeenCalled()
})

it('reports an outage once, and the changes during it afterwards', async () => {
  const { positions, readPositions, onReadError, watcher } = start()
  const onChange = vi.fn()
  await watcher.watch('a', onChange)
  const failure = new Error('the database is away')
  for (let i = 0; i < 3; i++) readPositions.mockRejectedValueOnce(failure)
  positions.set('a', 2)
  for (let i = 0; i < 3; i++) await nextPoll()
  expect(onReadError.mock.calls).toEqual([[failure]])
  expect(onChange).not.toHaveBeenCalled()
  await nextPoll()
  expect(onChange).toHaveBeenCalledTimes(1)
  readPositions.mockRejectedValueOnce(failure)
  await nextPoll()
  expect(onReadError).toHaveBeenCalledTimes(2)
})

it('does not start when the first query fails', async () => {
  const { readPositions, watcher } = start()
  readPositions.mockRejectedValueOnce(new Error('the database is away'))
  await expect(watcher.watch('a', vi.fn())).rejects.toThrow('the database is away')
  expect(vi.getTimerCount()).toBe(0)
})

it('ends the watches whose session or membership ended', async () => {
  const { findEnded, watcher } = start()
  const [first, second] = [vi.fn(), vi.fn()]
  await watcher.watch('a', vi.fn(), first)
  await watcher.watch('a', vi.fn(), second)
  findEnded.mockResolvedValueOnce([1])
  await nextPoll()
  expect([first, second].map(({ mock }) => mock.calls.length)).toEqual([0, 1])
})
