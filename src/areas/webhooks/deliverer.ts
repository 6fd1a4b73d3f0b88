import type { SendWebhook, WebhookAnswer } from '../../domain/webhooks.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Meter } from '../../kernel/meter.ts'
import { mayHave } from './chat-messages.ts'
import { failingMaxMs, judgeAnswer } from './delivery-outcomes.ts'
import type { ClaimedDelivery, ClaimOptions, DeliveryResult } from './deliverer.repository.ts'
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
  meter: Meter
  claim: (options: Omit<ClaimOptions, 'seedUrlPrefix'>) => Promise<ClaimedDelivery[]>
  /** Makes the request of deliveries to one webhook; undefined if its secret cannot be read. */
  makeRequest: (deliveries: Deliveries, now: Date) => WebhookRequest | undefined
  send: SendWebhook
  record: (results: readonly Result[], now: Date) => Promise<void>
  /** Records an attempt, and disables its webhook. `failingBefore`: if nothing was delivered since that time. */
  recordAndDisable: (
    results: readonly Result[],
    options: { now: Date; failingBefore?: Date },
  ) => Promise<void>
  release: (delivery: ClaimedDelivery) => Promise<void>
  /** Removes a delivery that its webhook may not have. */
  discard: (delivery: ClaimedDelivery) => Promise<void>
  /** Called when the database failed. What was not recorded is sent again after its lease. */
  onError: (error: unknown) => void
  /** Returns a number from 0 up to 1. */
  random?: () => number
  pollEveryMs?: number
  stopWithinMs?: number
}

/** What one request delivers: an event, or those that a message to a chat is about, the oldest first. */
type Deliveries = readonly [ClaimedDelivery, ...ClaimedDelivery[]]

type Result = DeliveryResult<ClaimedDelivery>

/** The most requests of a process at once, and those of them to failing webhooks: dead receivers leave room for others. */
const atOnceMax = 32
const failingAtOnceMax = 16
// Longer than a request and its record take. After a crash, what was in progress is sent again then.
const leaseMs = 60_000
// Several events of a moment share a claim, and claims take at most a fifth of the time.
const gatherMs = 20
const restFactor = 4

export function createDeliverer(options: DelivererOptions): Deliverer {
  const {
    clock,
    meter,
    claim,
    onError,
    random = Math.random,
    pollEveryMs = 1_000,
    stopWithinMs = 5_000,
  } = options
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
      const requests = toRequests(claimed)
      for (const deliveries of requests) begin(deliveries)
      if (requests.length < limit) return
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

  function begin(deliveries: Deliveries): void {
    const isFailing = deliveries[0].failingSince !== null
    if (isFailing) failingCount += 1
    const delivering = deliver(deliveries)
      .catch(onError)
      .finally(() => {
        inProgress.delete(delivering)
        if (isFailing) failingCount -= 1
        // Its webhook may have more, and there is a place for another one.
        wake()
      })
    inProgress.add(delivering)
  }

  async function deliver(claimed: Deliveries): Promise<void> {
    const [refused, deliveries] = separate(claimed)
    for (const delivery of refused) await options.discard(delivery)
    if (!deliveries) return
    const answer = await attempt(deliveries)
    if (!answer) {
      for (const delivery of deliveries) await options.release(delivery)
      return
    }
    const now = clock.now()
    const { failingSince, slowedCount } = deliveries[0]
    // One for all, so that they are tried again together.
    const chance = random()
    const results = deliveries.map((delivery): Result => {
      const attempts = delivery.attempts + 1
      return {
        delivery,
        outcome: judgeAnswer(answer, { attempts, slowedCount, now, random: () => chance }),
      }
    })
    for (const { outcome } of results)
      meter.count('deliveries', outcome.status === 'pending' ? 'retrying' : outcome.status)
    const failingBefore = new Date(now.getTime() - failingMaxMs)
    if (results.some(({ outcome }) => outcome.isGone)) return options.recordAndDisable(results, { now })
    const hasFailed = results.some(({ outcome }) => outcome.status !== 'delivered')
    const isHopeless = hasFailed && failingSince !== null && failingSince < failingBefore
    if (isHopeless) return options.recordAndDisable(results, { now, failingBefore })
    return options.record(results, now)
  }

  /** Sends the request. Undefined if it was not finished before the process stops. */
  async function attempt(
    deliveries: Deliveries,
  ): Promise<WebhookAnswer | { error: 'secret_unreadable' } | undefined> {
    const request = options.makeRequest(deliveries, clock.now())
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

/** Deliveries by the request that they are sent in: those to a chat are one message. */
function toRequests(claimed: readonly ClaimedDelivery[]): Deliveries[] {
  const keyOf = ({ format, webhookId, eventId }: ClaimedDelivery) =>
    (format === null ? eventId : '') + webhookId
  const requests = new Map<string, [ClaimedDelivery, ...ClaimedDelivery[]]>()
  for (const delivery of claimed.toSorted((one, other) => one.position - other.position)) {
    const key = keyOf(delivery)
    const request = requests.get(key)
    if (request) request.push(delivery)
    else requests.set(key, [delivery])
  }
  return [...requests.values()]
}

/** The deliveries that a chat may not have, as the type of their events is not for everybody, and all others. */
function separate(claimed: Deliveries): [refused: ClaimedDelivery[], deliveries: Deliveries | undefined] {
  const isRefused = (delivery: ClaimedDelivery) =>
    delivery.format !== null && !mayHave(delivery, delivery.type)
  const [first, ...rest] = claimed.filter((delivery) => !isRefused(delivery))
  return [claimed.filter(isRefused), first && [first, ...rest]]
}
