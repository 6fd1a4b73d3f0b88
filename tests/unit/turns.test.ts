import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createTurns } from '../../src/kernel/turns.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const overloaded = { code: 'overloaded', status: 503, retryAfterSeconds: 1 }

it('refuses whoever waited for too long, and gives the turn to the next', async () => {
  const turns = createTurns({ atOnceMax: 1, waitMsMax: 100 })
  const end = await turns.take('a')
  const tooLong = turns.take('a')
  await vi.advanceTimersByTimeAsync(60)
  const next = turns.take('a')
  const refused = expect(tooLong).rejects.toMatchObject(overloaded)
  await vi.advanceTimersByTimeAsync(40)
  await refused
  end()
  await expect(next).resolves.toBeTypeOf('function')
})

it('refuses at once whoever would be one too many to wait', async () => {
  const turns = createTurns({ atOnceMax: 1, waitingMax: 1, waitMsMax: 100 })
  const end = await turns.take('a')
  const waiting = turns.take('a')
  await expect(turns.take('a')).rejects.toMatchObject(overloaded)
  await expect(turns.take('b')).resolves.toBeTypeOf('function')
  end()
  await expect(waiting).resolves.toBeTypeOf('function')
})

it('hands a turn on once, though it is ended twice', async () => {
  const turns = createTurns({ atOnceMax: 1, waitMsMax: 100 })
  const end = await turns.take('a')
  const second = turns.take('a')
  const third = turns.take('a')
  end()
  end()
  await second
  const refused = expect(third).rejects.toMatchObject(overloaded)
  await vi.advanceTimersByTimeAsync(100)
  await refused
})
