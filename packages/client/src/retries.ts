import { ApiError } from './errors.ts'

export interface RetryOptions {
  /** How often a request is sent again. Default: 5. */
  retries?: number | undefined
  /**
   * The longest wait before a request is sent again, in milliseconds. If the service asks for a longer one, the request
   * ends with its error at once. Default: 60,000.
   */
  retryWaitMsMax?: number | undefined
}

/** An attempt that failed, before the next one. */
export interface Retry {
  /** What failed: an `ApiError` if the service answered, otherwise the error of `fetch`. */
  error: unknown
  /** How many attempts have failed one after the other. */
  failures: number
  /** How long it waits for the next attempt, in milliseconds. */
  waitMs: number
}

/** How one request is sent. */
export interface Sending {
  /** False if its body can be read only once. Default: true. */
  isRepeatable?: boolean
  /** Whether the body of its response is read by the caller, as it comes. Default: false. */
  isStreamed?: boolean
  /** Sends it until it is answered; waits are capped by `retryWaitMsMax`. `onRetry` is called before each wait. */
  onRetry?: (retry: Retry) => void
}

export const retryWaitMsMaxDefault = 60_000

const firstWaitMs = 250
/** How long a request with an `Idempotency-Key` is waited for. The service lets another attempt begin after seconds. */
const inFlightMsMax = 30_000
const failuresForNow = new Set([408, 429, 500, 502, 503, 504])

/**
 * Sends requests again that failed by the network or for now: 408, 429, 500, 502, 503, 504, and 409
 * `idempotency_in_flight`, which is not counted. Waits as long as `Retry-After` says (RFC 9110 §10.2.3), otherwise twice
 * as long each time, with jitter. Each POST has an `Idempotency-Key`. A DELETE that is sent again, because it may have
 * been executed, and is answered with 404 `not_found`, has succeeded.
 */
export function createRetryingFetch(
  fetch: (request: Request, sending: Sending) => Promise<Response>,
  { retries = 5, retryWaitMsMax = retryWaitMsMaxDefault }: RetryOptions,
) {
  /** Responses of changes of which an attempt may have been executed before. */
  const unsure = new WeakSet<Response>()

  async function send(request: Request, sending: Sending): Promise<Response> {
    const { isRepeatable = true, onRetry } = sending
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID())
    const isChange = request.method !== 'GET' && request.method !== 'HEAD'
    let mayHaveHappened = false
    let inFlightSince: number | undefined
    for (let failures = 0; ;) {
      const isLast = !isRepeatable || (!onRetry && failures >= retries)
      let waitMs = backOff(failures, retryWaitMsMax)
      let failure: unknown
      try {
        // A body can be read once.
        const response = await fetch(isRepeatable ? request.clone() : request, sending)
        if (response.ok) return response
        const error = new ApiError(response, await readJson(response))
        const askedMs = error.retryAfterMs
        const isInFlight = error.code === 'idempotency_in_flight'
        const isForNow = failuresForNow.has(response.status)
        // 429 is answered before anything is done.
        if (isInFlight || (isForNow && response.status !== 429)) mayHaveHappened = isChange
        inFlightSince = isInFlight ? (inFlightSince ?? performance.now()) : undefined
        const isWaitedFor =
          isRepeatable && inFlightSince !== undefined && performance.now() - inFlightSince < inFlightMsMax
        waitMs = Math.min(Math.max(askedMs ?? 0, waitMs), retryWaitMsMax)
        if (!isWaitedFor) {
          // Not a 404 of a proxy, nor of a path that is no operation.
          const isGone = response.status === 404 && error.code === 'not_found'
          if (mayHaveHappened && request.method === 'DELETE' && isGone) return Response.json({ ok: true })
          const isTooLong = !onRetry && askedMs !== undefined && askedMs > retryWaitMsMax
          if (!isForNow || isLast || isTooLong) {
            if (mayHaveHappened) unsure.add(response)
            return response
          }
          failures += 1
        }
        failure = error
        await response.body?.cancel()
      } catch (error) {
        if (isLast || request.signal.aborted) throw error
        mayHaveHappened = isChange
        failure = error
        failures += 1
      }
      onRetry?.({ error: failure, failures, waitMs })
      await pause(waitMs, request.signal)
      request.signal.throwIfAborted()
    }
  }

  return {
    send,
    /** Whether the request of this response is a change that may have been executed in spite of its error. */
    mayHaveHappened: (response: Response) => unsure.has(response),
  }
}

/** How long to wait after so many failures, in milliseconds. */
export function backOff(failures: number, waitMsMax: number): number {
  return Math.min(firstWaitMs * 2 ** failures, waitMsMax) * (0.5 + Math.random() / 2)
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.clone().text()
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Waits, until the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve()
      return
    }
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
