import { expect, it } from 'vitest'
import { createDatabaseStart, type Step } from '../../src/db/database-start.ts'
import { DatabaseUnusableError } from '../../src/db/usable.ts'

/** A failed connection, as `assertUsable` throws it. */
const failure = (code: string) =>
  new DatabaseUnusableError('The database cannot be used', {
    cause: Object.assign(new Error('refused'), { code }),
  })

/** Starts with a clock that goes on by the pauses alone. */
function createStart() {
  const pauses: number[] = []
  const logged: string[] = []
  let time = 0
  const database = createDatabaseStart({
    log: {
      info: (message: unknown) => void logged.push(`${time} ${String(message)}`),
      warn: (_: unknown, message?: string) => void logged.push(`${time} ${message ?? ''}`),
    },
    now: () => time,
    async pause(ms, { signal }) {
      signal.throwIfAborted()
      pauses.push(ms)
      time += ms
    },
  })
  return { database, pauses, logged, now: () => time }
}

const { signal } = new AbortController()

it('waits for a database that is away with growing pauses, and logs it once a minute', async () => {
  const { database, pauses, logged, now } = createStart()
  const step: Step = async () => {
    if (now() < 130_000) throw failure('ECONNREFUSED')
    return true
  }
  expect(await database.attempt(step)).toBe(false)
  await database.keepTrying(step, signal)
  expect(pauses.slice(0, 6)).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000])
  expect(logged).toEqual([
    '0 the database is not available: waiting for it',
    '62500 the database is not available: waiting for it',
    '122500 the database is not available: waiting for it',
    '132500 the database is available',
  ])
})

it('waits for an operator who migrates', async () => {
  const { database, logged, now } = createStart()
  await database.keepTrying(async () => now() > 3_000, signal)
  expect(logged).toEqual([
    '500 the database is not migrated: run the migrate command',
    '3500 the database is available',
  ])
})

it.each(['28P01', '28000'])('waits a minute for a login that is refused: %s', async (code) => {
  const { database, now } = createStart()
  const refused = failure(code)
  await expect(database.keepTrying(() => Promise.reject(refused), signal)).rejects.toBe(refused)
  expect(now()).toBeGreaterThanOrEqual(60_000)
  expect(now()).toBeLessThan(70_000)
})

it('counts that minute anew after the server was away', async () => {
  const { database, now } = createStart()
  const step: Step = async () => {
    throw failure(now() < 50_000 || now() > 55_000 ? '28P01' : 'ECONNREFUSED')
  }
  await expect(database.keepTrying(step, signal)).rejects.toThrow()
  expect(now()).toBeGreaterThanOrEqual(115_000)
})

it.each(['3D000', '42501', '42P01', 'DEPTH_ZERO_SELF_SIGNED_CERT'])('does not wait for %s', async (code) => {
  const { database } = createStart()
  const refused = failure(code)
  await expect(database.attempt(() => Promise.reject(refused))).rejects.toBe(refused)
})

it('ends when it is aborted', async () => {
  const { database } = createStart()
  const closing = new AbortController()
  const waiting = database.keepTrying(async () => {
    closing.abort()
    return false
  }, closing.signal)
  await expect(waiting).rejects.toThrow('aborted')
})
