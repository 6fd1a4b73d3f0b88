import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createTurns } from '../../src/concurrency/turns.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const tooMany = { code: 'too_many_at_once', status: 429, retryAfterSeconds: 1 }

it('rejects with 429 after the maximum wait, and gives the turn to the next one', async () => {
  const turns = createTurns({ atOnceMax: 1, waitingMax: 64, waitMsMax: 100 })
  const end = await turns.take('a')
  const tooLong = turns.take('a')
  await vi.advanceTimersByTimeAsync(60)
  const next = turns.take('a')
  const refused = expect(tooLong).rejects.toMatchObject(tooMany)
  await vi.advanceTimersByTimeAsync(40)
  await refused
  end()
  await expect(next).resolves.toBeTypeOf('function')
})

it('rejects with 429 immediately when the queue is full, per caller and key', async () => {
  const turns = createTurns({ atOnceMax: 1, waitingMax: 1, waitMsMax: 100 })
  const end = await turns.take('a')
  const waiting = turns.take('a')
  await expect(turns.take('a')).rejects.toMatchObject(tooMany)
  await expect(turns.take('b')).resolves.toBeTypeOf('function')
  const other = turns.take('a', 'another caller')
  end()
  const endWaiting = await waiting
  endWaiting()
  await expect(other).resolves.toBeTypeOf('function')
})

it('rotates turns between the callers of a key, each in the order of arrival', async () => {
  const turns = createTurns({ atOnceMax: 1, waitingMax: 64, waitMsMax: 100 })
  const order: string[] = []
  const run = async (caller: string, name: string) => {
    const end = await turns.take('a', caller)
    order.push(name)
    end()
  }
  const end = await turns.take('a', 'busy')
  const all = ['busy 1', 'busy 2', 'busy 3', 'busy 4', 'calm 1', 'other 1', 'calm 2'].map((name) =>
    run(String(name.split(' ')[0]), name),
  )
  end()
  await Promise.all(all)
  expect(order).toEqual(['busy 1', 'calm 1', 'other 1', 'busy 2', 'calm 2', 'busy 3', 'busy 4'])
})

it('removes a caller from the queue after the maximum wait', async () => {
  const turns = createTurns({ atOnceMax: 1, waitingMax: 64, waitMsMax: 100 })
  const end = await turns.take('a', 'first')
  const tooLong = expect(turns.take('a', 'impatient')).rejects.toMatchObject(tooMany)
  await vi.advanceTimersByTimeAsync(50)
  const next = turns.take('a', 'next')
  await vi.advanceTimersByTimeAsync(50)
  await tooLong
  end()
  await expect(next).resolves.toBeTypeOf('function')
})

it('passes a turn on once, even when it is ended twice', async () => {
  const turns = createTurns({ atOnceMax: 1, waitingMax: 64, waitMsMax: 100 })
  const end = await turns.take('a')
  const second = turns.take('a')
  const third = turns.take('a')
  end()
  end()
  await second
  const refused = expect(third).rejects.toMatchObject(tooMany)
  await vi.advanceTimersByTimeAsync(100)
  await refused
})
