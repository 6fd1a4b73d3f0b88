import { errors } from './errors.ts'

/** Lets the work of each key be done a few at a time, in the order in which it came. */
export interface Turns {
  /** Waits for a turn. Returns how to end it, which may be called twice. Throws `overloaded` when it would come too late. */
  take(key: string): Promise<() => void>
}

export interface TurnsOptions {
  /** How many of one key have their turn at once. */
  atOnceMax: number
  /** How many of one key may wait. Default: any number. */
  waitingMax?: number
  /** How long one waits for its turn at most, in milliseconds. */
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
      // The turn is handed over by who ends theirs.
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

/** Waits until it is called by its turn, which it leaves to the next when that comes too late. */
function waitIn(waiting: (() => void)[], waitMsMax: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      clearTimeout(timer)
      // After whatever has arrived in the meantime.
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
