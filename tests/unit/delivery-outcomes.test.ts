import { describe, expect, it } from 'vitest'
import { judgeAnswer } from '../../src/areas/webhooks/delivery-outcomes.ts'
import type { WebhookAnswer } from '../../src/domain/webhooks.ts'

const now = new Date('2026-11-21T03:04:05.678Z')
const judge = (answer: WebhookAnswer, { attempts = 1, slowedCount = 0, random = 0 } = {}) =>
  judgeAnswer(answer, { attempts, slowedCount, now, random: () => random })
const status = (code: number, retryAfter?: string) => ({ status: code, retryAfter })
const inSeconds = (time: Date | null) => (time === null ? null : (time.getTime() - now.getTime()) / 1000)

describe('the answer to an attempt', () => {
  it.each([200, 204, 299])('ends the delivery for the status %i', (code) => {
    expect(judge(status(code, '60'))).toEqual({
      status: 'delivered',
      lastStatus: code,
      lastError: null,
      nextAttemptAt: null,
      pausedUntil: null,
      pauseReason: null,
      isGone: false,
    })
  })

  it.each([
    [status(199), 199, 'status'],
    [status(301), 301, 'status'],
    [status(404), 404, 'status'],
    [status(500), 500, 'status'],
    [{ error: 'refused' as const }, null, 'refused'],
    [{ error: 'timeout' as const }, null, 'timeout'],
    [{ error: 'tls' as const }, null, 'tls'],
  ])('is a failure that is tried again, and pauses no others: %j', (answer, lastStatus, lastError) => {
    expect(judge(answer)).toMatchObject({ status: 'pending', lastStatus, lastError, pausedUntil: null })
  })

  it('ends the delivery and the webhook for the status 410', () => {
    expect(judge(status(410, '60'))).toMatchObject({
      status: 'failed',
      lastStatus: 410,
      nextAttemptAt: null,
      pausedUntil: null,
      isGone: true,
    })
  })
})

describe('the attempts', () => {
  it('are ten within about three days, as Standard Webhooks has them', () => {
    const pauses = Array.from({ length: 9 }, (_, i) =>
      inSeconds(judge(status(500), { attempts: i + 1 }).nextAttemptAt),
    )
    const hour = 3600
    expect(pauses).toEqual([5, 300, 1800, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour])
    expect(judge(status(500), { attempts: 10 })).toMatchObject({ status: 'failed', nextAttemptAt: null })
    // One that was interrupted is not counted, so there may be more.
    expect(judge(status(500), { attempts: 11 })).toMatchObject({ status: 'failed', nextAttemptAt: null })
  })

  it('have pauses that chance makes longer by up to a tenth', () => {
    expect(inSeconds(judge(status(500), { attempts: 2, random: 0.999 }).nextAttemptAt)).toBeCloseTo(330, 0)
  })
})

describe('Retry-After', () => {
  it.each([
    ['120', 120],
    ['Sat, 21 Nov 2026 03:06:05 GMT', 119.322],
    ['7200', 3600],
    ['999999999', 3600],
    // Not sooner than without it.
    ['1', 5],
    ['Sat, 21 Nov 2026 03:00:00 GMT', 5],
    ['soon', 5],
    ['-5', 5],
  ])('%s puts off the next attempt by %f seconds', (text, seconds) => {
    expect(inSeconds(judge(status(503, text)).nextAttemptAt)).toBeCloseTo(seconds, 3)
  })

  it('pauses the webhook for as long, up to an hour', () => {
    expect(inSeconds(judge(status(503, '120')).pausedUntil)).toBe(120)
    expect(inSeconds(judge(status(429, '7200')).pausedUntil)).toBe(3600)
  })

  it('does not bring a late attempt forward', () => {
    expect(inSeconds(judge(status(503, '120'), { attempts: 4 }).nextAttemptAt)).toBe(7200)
  })
})

describe('a receiver with too much to do', () => {
  it.each([429, 502, 504])(
    'is paused for the status %i, twice as long each time, up to five minutes',
    (code) => {
      const pauses = [0, 1, 2, 6, 60, 5000].map((slowedCount) =>
        inSeconds(judge(status(code), { slowedCount }).pausedUntil),
      )
      expect(pauses).toEqual([5, 10, 20, 300, 300, 300])
    },
  )
})
