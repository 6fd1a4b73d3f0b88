import type { UntrustedFetchOptions } from '../../src/platform/untrusted-fetch.ts'

type Send = NonNullable<UntrustedFetchOptions['send']>

/** Sends a request. `end` lets its time pass. */
export type SendUntil = (url: URL, options: Parameters<Send>[1] & { end: () => void }) => Promise<Response>

/**
 * Gives each fetch a deadline that passes as soon as it has failed, and never before, however slow the machine is. (In
 * production failures take until a time, so that they reveal nothing.)
 */
export function endOnFailure(
  send: SendUntil,
): Required<Pick<UntrustedFetchOptions, 'send' | 'startDeadline'>> {
  const deadlines = new WeakMap<AbortSignal, { end: () => void; notSent: NodeJS.Timeout }>()
  return {
    startDeadline() {
      const deadline = new AbortController()
      const end = () => deadline.abort()
      // What is refused before anything is sent waits for the deadline too.
      deadlines.set(deadline.signal, { end, notSent: setTimeout(end, 20) })
      return deadline.signal
    },
    async send(url, options) {
      const { end, notSent } = deadlines.get(options.signal) ?? { end: () => undefined, notSent: undefined }
      clearTimeout(notSent)
      // Once the failure is known, for which it must not have passed yet.
      const endSoon = () => setImmediate(() => setImmediate(end))
      try {
        const response = await send(url, { ...options, end })
        if (response.status !== 200) endSoon()
        return response
      } catch (error) {
        endSoon()
        throw error
      }
    },
  }
}
