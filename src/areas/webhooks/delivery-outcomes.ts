import type { DeliveryError, WebhookAnswer, WebhookPauseReason } from '../../domain/webhooks.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** The pauses before the second to the tenth attempt (Standard Webhooks 1.0, "Deliverability and reliability"). */
const pausesMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]
/** The most that chance adds to a pause, as a part of it. */
const jitter = 0.1
/** The longest pause that a receiver can ask for. */
const retryAfterMaxMs = hour
/** The first pause of a receiver that has too much to do; each further one is twice as long, up to five minutes. */
const slowdownMs = 5 * second
const slowdownMaxMs = 5 * minute
/** How long nothing must have been delivered for a webhook to be disabled. */
export const failingMaxMs = 3 * 24 * hour

/** What becomes of a delivery and its webhook after an attempt. */
export interface DeliveryOutcome {
  status: 'pending' | 'delivered' | 'failed'
  lastStatus: number | null
  lastError: DeliveryError | null
  /** Null unless it is pending. */
  nextAttemptAt: Date | null
  /** Nothing is sent to the webhook until then. */
  pausedUntil: Date | null
  pauseReason: WebhookPauseReason | null
  /** The receiver wants no more requests (410). */
  isGone: boolean
}

/** Judges the answer to an attempt. `attempts` counts it; `slowedCount`: how often in a row the receiver has had too much to do. */
export function judgeAnswer(
  answer: WebhookAnswer | { error: 'secret_unreadable' },
  context: { attempts: number; slowedCount: number; now: Date; random: () => number },
): DeliveryOutcome {
  const status = 'status' in answer ? answer.status : null
  if (status !== null && status >= 200 && status < 300) return { ...delivered, lastStatus: status }
  const { attempts, slowedCount, now, random } = context
  const failure = { lastStatus: status, lastError: 'error' in answer ? answer.error : ('status' as const) }
  if (status === 410) return { ...failed, ...failure, isGone: true }

  const askedMs = 'retryAfter' in answer ? parseRetryAfter(answer.retryAfter, now) : undefined
  const isOverloaded = status === 429 || status === 502 || status === 504
  const slowedMs = Math.min(slowdownMs * 2 ** slowedCount, slowdownMaxMs)
  const waitMs = askedMs ?? (isOverloaded ? slowedMs : undefined)
  const pause =
    waitMs === undefined
      ? notPaused
      : {
          pausedUntil: new Date(now.getTime() + waitMs),
          pauseReason: askedMs === undefined ? ('overloaded' as const) : ('retry_after' as const),
        }
  const pauseMs = pausesMs[attempts - 1]
  if (pauseMs === undefined) return { ...failed, ...failure, ...pause }
  const nextMs = Math.max(pauseMs * (1 + jitter * random()), askedMs ?? 0)
  return {
    ...failure,
    status: 'pending',
    nextAttemptAt: new Date(now.getTime() + nextMs),
    ...pause,
    isGone: false,
  }
}

const notPaused = { pausedUntil: null, pauseReason: null }
const ended = { nextAttemptAt: null, ...notPaused, isGone: false }
const delivered = { ...ended, status: 'delivered' as const, lastError: null }
const failed = { ...ended, status: 'failed' as const }

/** The pause of a `Retry-After`, in seconds or as a date, up to an hour; undefined for anything else. */
function parseRetryAfter(text: string | undefined, now: Date): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * second : Date.parse(text) - now.getTime()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), retryAfterMaxMs)
}
