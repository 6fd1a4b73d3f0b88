export interface RetryOptions {
  /** How often a request is sent again. Default: 5. */
  retries?: number
  /** The longest wait before a request is sent again, in milliseconds. Default: 60,000. */
  retryWaitMsMax?: number
}

const firstWaitMs = 250

/**
 * Sends requests again that failed by the network or were refused for now: 429, 503, and 409 while the same request is
 * still being executed. Waits as long as `Retry-After` says (RFC 9110 §10.2.3), otherwise twice as long each time, with
 * jitter. A DELETE that was executed without its response arriving is answered with 404 when it is sent again.
 */
export function createRetryingFetch(
  fetch: (request: Request) => Promise<Response>,
  { retries = 5, retryWaitMsMax = 60_000 }: RetryOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method === 'POST' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID())
    for (let attempt = 0; ; attempt++) {
      const isLast = attempt >= retries
      const backoffMs = firstWaitMs * 2 ** attempt * (0.5 + Math.random() / 2)
      let waitMs = backoffMs
      try {
        // A body can be read once.
        const response = await fetch(isLast ? request : request.clone())
        const askedMs = waitAskedFor(response)
        if (isLast || askedMs === undefined) return response
        await response.body?.cancel()
        waitMs = Math.max(askedMs, backoffMs)
      } catch (error) {
        if (isLast || request.signal.aborted) throw error
      }
      await pause(Math.min(waitMs, retryWaitMsMax), request.signal)
      request.signal.throwIfAborted()
    }
  }
}

/** How long the service asks to wait, in milliseconds; undefined if the same request would be answered in the same way. */
function waitAskedFor({ status, headers }: Response): number | undefined {
  const retryAfter = headers.get('retry-after')
  const isForNow = status === 429 || status === 503 || (status === 409 && retryAfter !== null)
  if (!isForNow) return undefined
  if (retryAfter === null) return 0
  const seconds = Number(retryAfter)
  return Number.isNaN(seconds) ? Math.max(0, Date.parse(retryAfter) - Date.now()) || 0 : seconds * 1000
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
