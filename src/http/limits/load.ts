/**
 * Requests in progress, and whether there are too many. Each is known by a small object of its own: what has been the key
 * of a `Map` stays in memory until the next full garbage collection, and so does all that it refers to.
 */
export interface Load {
  /**
   * Why a further request of a caller is to be refused: there are too many in all, or during an overload too many of this
   * caller. Undefined if it is not.
   */
  findExcess(caller: string): 'ofAll' | 'ofCaller' | undefined
  add(request: object, caller: string): void
  /** Returns whether the request was counted. */
  delete(request: object): boolean
}

export interface LoadOptions {
  /** Up to this number of requests there is no overload. */
  max: number
  /** The process keeps up while its oldest request is younger than this, in milliseconds. */
  keepsUpMs: number
  /** The limit of requests while the process keeps up. */
  burstMax: number
  /** The limit of requests during an overload, of which those of one caller count as `max` at most. */
  overloadMax: number
  /** The limit of requests of one caller during an overload. */
  callerMax: number
  /** Called when the first request is refused. */
  onOverload: (requests: number) => void
  /** Called when the number of requests has fallen below half of `max` again. */
  onEnd: () => void
}

export function createLoad(options: LoadOptions): Load {
  const { max, keepsUpMs, burstMax, overloadMax, callerMax, onOverload, onEnd } = options
  /** The first entry is the oldest. */
  const requests = new Map<object, { caller: string; begunAt: number }>()
  const counts = new Map<string, number>()
  /** The number of requests, without those of a caller beyond `max`: a burst of one must not shut out all others. */
  let shared = 0
  let isOverloaded = false

  function keepsUp(): boolean {
    const [oldest] = requests.values()
    return oldest === undefined || performance.now() - oldest.begunAt < keepsUpMs
  }

  function findExcess(caller: string): 'ofAll' | 'ofCaller' | undefined {
    if (requests.size < max) return undefined
    // During an overload the lower limit stays, so that the decision does not alternate.
    if (!isOverloaded && keepsUp()) return requests.size >= burstMax ? 'ofAll' : undefined
    if (shared >= overloadMax) return 'ofAll'
    return (counts.get(caller) ?? 0) >= callerMax ? 'ofCaller' : undefined
  }

  return {
    findExcess(caller) {
      const excess = findExcess(caller)
      if (excess && !isOverloaded) {
        isOverloaded = true
        onOverload(requests.size)
      } else if (isOverloaded && requests.size < max / 2) {
        isOverloaded = false
        onEnd()
      }
      return excess
    },
    add(request, caller) {
      if (requests.has(request)) return
      requests.set(request, { caller, begunAt: performance.now() })
      const count = (counts.get(caller) ?? 0) + 1
      counts.set(caller, count)
      if (count <= max) shared += 1
    },
    delete(request) {
      const caller = requests.get(request)?.caller
      if (caller === undefined) return false
      requests.delete(request)
      const left = (counts.get(caller) ?? 0) - 1
      if (left < max) shared -= 1
      if (left > 0) counts.set(caller, left)
      else counts.delete(caller)
      return true
    },
  }
}
