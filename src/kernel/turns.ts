import { errors } from './errors.ts'

/** Limits the concurrency of each key: a few run at once, the others wait in order of arrival. */
export interface Turns {
  /**
   * Waits for a turn. Returns a function that ends it, which may be called twice. Throws `overloaded` when too many
   * wait, or after `waitMsMax`.
   */
  take(key: string): Promise<() => void>
}

export interface TurnsOptions {
  /** How many turns of one key may run at once. */
  atOnceMax: number
  /** How many callers may wait for one key. Default: any number. */
  waitingMax?: number
  /** The longest wait for a turn, in milliseconds. */
  waitMsMax: number
}

export function createTurns({ atOnceMax, waitingMax = Infinity, waitMsMax }: TurnsOptions): Turns {
  const keys = new Map<string, { running: number; waiting: (() => void)[] }>()
  return {
    async take(key) {
      const state = keys.get(key) ?? { running: 0, waiting: [] }
      keys.set(key, state)
      if (state.running < atOnceMax) state.running += 1
      else if (state.waiting.length >= waitingMax) throw tooLate()
      // The turn that ends hands over its place, so `running` stays as it is.
      else await waitIn(state.waiting, waitMsMax)
      let hasEnded = false
      return () => {
        if (hasEnded) return
        hasEnded = true
        const next = state.waiting.shift()
        if (next) next()
        else if ((state.running -= 1) === 0) keys.delete(key)
      }
    },
  }
}

/** Waits until the previous turn hands over. After `waitMsMax` it leaves the queue and throws. */
function waitIn(waiting: (() => void)[], waitMsMax: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      clearTimeout(timer)
      // Lets the event loop read what has arrived in the meantime.
      setImmediate(resolve)
    }
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(go), 1)
      reject(tooLate())
    }, waitMsMax)
    waiting.push(go)
  })
}

function tooLate(): Error {
  return errors.overloaded({ retryAfterSeconds: 1 })
}
