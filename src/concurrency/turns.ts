import { errors } from '../kernel/errors.ts'

/** Limits the concurrency of each key: a few run at once, the others wait. The callers of a key get turns in rotation. */
export interface Turns {
  /**
   * Waits for a turn. Those of one caller have turns in the order of arrival. Returns a function that ends it, which may be
   * called twice. Throws `too_many_at_once` when too many of the caller wait, or after `waitMsMax`.
   */
  take(key: string, caller?: string): Promise<() => void>
}

/** How many requests of one caller wait for a turn. */
export const turnsWaitingMax = 128

export interface TurnsOptions {
  /** How many turns of one key may run at once. */
  atOnceMax: number
  /** How many of one caller may wait for one key. */
  waitingMax: number
  /** The longest wait for a turn, in milliseconds. */
  waitMsMax: number
}

/** Those who wait for a key, by caller. The first entry has the next turn. */
type Waiting = Map<string, (() => void)[]>

export function createTurns({ atOnceMax, waitingMax, waitMsMax }: TurnsOptions): Turns {
  const keys = new Map<string, { running: number; waiting: Waiting }>()
  return {
    async take(key, caller = '') {
      const state = keys.get(key) ?? { running: 0, waiting: new Map<string, (() => void)[]>() }
      keys.set(key, state)
      if (state.running < atOnceMax) state.running += 1
      else if ((state.waiting.get(caller)?.length ?? 0) >= waitingMax) throw tooLate()
      // The turn that ends hands over its place, so `running` stays as it is.
      else await waitIn(state.waiting, caller, waitMsMax)
      let hasEnded = false
      return () => {
        if (hasEnded) return
        hasEnded = true
        const next = takeNext(state.waiting)
        if (next) next()
        else if ((state.running -= 1) === 0) keys.delete(key)
      }
    },
  }
}

/** Removes whoever is next. Their caller is the last one then. */
function takeNext(waiting: Waiting): (() => void) | undefined {
  for (const [caller, ofCaller] of waiting) {
    const next = ofCaller.shift()
    waiting.delete(caller)
    if (ofCaller.length > 0) waiting.set(caller, ofCaller)
    return next
  }
  return undefined
}

/** Waits until the previous turn hands over. After `waitMsMax` it leaves the queue and throws. */
function waitIn(waiting: Waiting, caller: string, waitMsMax: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      clearTimeout(timer)
      // Lets the event loop read what has arrived in the meantime.
      setImmediate(resolve)
    }
    const timer = setTimeout(() => {
      const ofCaller = waiting.get(caller) ?? []
      ofCaller.splice(ofCaller.indexOf(go), 1)
      if (ofCaller.length === 0) waiting.delete(caller)
      reject(tooLate())
    }, waitMsMax)
    const ofCaller = waiting.get(caller)
    if (ofCaller) ofCaller.push(go)
    else waiting.set(caller, [go])
  })
}

function tooLate(): Error {
  return errors.tooManyAtOnce({ retryAfterSeconds: 1 })
}
