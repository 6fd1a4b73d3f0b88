import type { SendWebhook, WebhookAnswer } from '../../domain/webhooks.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { DeliveryOutcome } from './delivery-outcomes.ts'
import { failingMaxMs, judgeAnswer } from './delivery-outcomes.ts'
import type { ClaimedDelivery, ClaimOptions } from './deliverer.repository.ts'
import type { WebhookRequest } from '../../domain/webhooks.ts'

/** Sends the deliveries that are due, from all processes. */
export interface Deliverer {
  start(): void
  /** Looks for deliveries at once, and not only at the next poll. */
  wake(): void
  /** Claims no more, waits a moment for requests in progress, and gives back those that do not end. */
  stop(): Promise<void>
}

export interface DelivererOptions {
  clock: Clock
  claim: (options: Omit<ClaimOptions, 'seedUrlPrefix'>) => Promise<ClaimedDelivery[]>
  /** Makes the request of a delivery; undefined if its secret cannot be read. */
  makeRequest: (delivery: ClaimedDelivery, now: Date) => WebhookRequest | undefined
  send: SendWebhook
  record: (delivery: ClaimedDelivery, outcome: DeliveryOutcome, now: Date) => Promise<void>
  /** Records an attempt, and disables its webhook. `failingBefore`: if nothing was delivered since that time. */
  recordAndDisable: (
    delivery: ClaimedDelivery,
    outcome: DeliveryOutcome,
    options: { now: Date; failingBefore?: Date },
  ) => Promise<void>
  release: (delivery: ClaimedDelivery) => Promise<void>
  /** Called when the database failed. What was not recorded is sent again after its lease. */
  onError: (error: unknown) => void
  /** Returns a number from 0 up to 1. */
  random?: () => number
  pollEveryMs?: number
  stopWithinMs?: number
}

/** The most requests of a process at once, and those of them to failing webhooks: dead receivers leave room for others. */
const atOnceMax = 32
const failingAtOnceMax = 16
// Longer than a request and its record take. After a crash, what was in progress is sent again then.
const leaseMs = 60_000
// Several events of a moment share a claim, and claims take at most a fifth of the time.
const gatherMs = 20
const restFactor = 4

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { clock, claim, onError, random = Math.random, pollEveryMs = 1_000, stopWithinMs = 5_000 } = options
  const inProgress = new Set<Promise<void>>()
  let failingCount = 0
  let isRunning = false
  let restMs = 0
  let claiming: Promise<void> | undefined
  let poll: NodeJS.Timeout | undefined
  let waking: NodeJS.Timeout | undefined
  const stopping = new AbortController()

  /** Claims until nothing more is due or all places are taken. */
  async function fill(): Promise<void> {
    while (isRunning && inProgress.size < atOnceMax) {
      const now = clock.now()
      const limit = atOnceMax - inProgress.size
      const failingLimit = Math.max(0, failingAtOnceMax - failingCount)
      const leasedUntil = new Date(now.getTime() + leaseMs)
      const startedAt = performance.now()
      const claimed = await claim({ now, leasedUntil, limit, failingLimit })
      restMs = (performance.now() - startedAt) * restFactor
      for (const delivery of claimed) begin(delivery)
      if (claimed.length < limit) return
    }
  }

  function claimNow(): void {
    if (claiming) {
      wake()
      return
    }
    claiming = fill()
      .catch(onError)
      .finally(() => {
        claiming = undefined
      })
  }

  function wake(): void {
    if (!isRunning) return
    waking ??= setTimeout(
      () => {
        waking = undefined
        claimNow()
      },
      Math.max(gatherMs, restMs),
    ).unref()
  }

  function begin(delivery: ClaimedDelivery): void {
    const isFailing = delivery.failingSince !== null
    if (isFailing) failingCount += 1
    const delivering = deliver(delivery)
      .catch(onError)
      .finally(() => {
        inProgress.delete(delivering)
        if (isFailing) failingCount -= 1
        // Its webhook may have more, and there is a place for another one.
        wake()
      })
    inProgress.add(delivering)
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const answer = await attempt(delivery)
    if (!answer) return options.release(delivery)
    const now = clock.now()
    const { attempts, failingSince, slowedCount } = delivery
    const outcome = judgeAnswer(answer, { attempts: attempts + 1, slowedCount, now, random })
    const failingBefore = new Date(now.getTime() - failingMaxMs)
    if (outcome.isGone) return options.recordAndDisable(delivery, outcome, { now })
    const isHopeless = outcome.status !== 'delivered' && failingSince !== null && failingSince < failingBefore
    if (isHopeless) return options.recordAndDisable(delivery, outcome, { now, failingBefore })
    return options.record(delivery, outcome, now)
  }

  /** Sends the request. Undefined if it was not finished before the process stops. */
  async function attempt(
    delivery: ClaimedDelivery,
  ): Promise<WebhookAnswer | { error: 'secret_unreadable' } | undefined> {
    const request = options.makeRequest(delivery, clock.now())
    if (!request) return { error: 'secret_unreadable' }
    try {
      return await options.send(request, stopping.signal)
    } catch (error) {
      if (stopping.signal.aborted) return undefined
      throw error
    }
  }

  return {
    start() {
      if (isRunning || stopping.signal.aborted) return
      isRunning = true
      poll = setInterval(claimNow, pollEveryMs).unref()
      claimNow()
    },
    wake,
    async stop() {
      isRunning = false
      clearInterval(poll)
      clearTimeout(waking)
      await claiming
      const limit = setTimeout(() => stopping.abort(), stopWithinMs)
      await Promise.all(inProgress)
      clearTimeout(limit)
      stopping.abort()
    },
  }
}
