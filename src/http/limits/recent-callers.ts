export interface RecentCallers {
  /** `standsFor` is what `find` returns for the caller. */
  add(caller: string, standsFor?: string): void
  find(caller: string): string | undefined
  has(caller: string): boolean
}

/** Remembers the last `max` callers, each for `windowMs` milliseconds after it was last added. In this process only. */
export function createRecentCallers({ windowMs, max }: { windowMs: number; max: number }): RecentCallers {
  // The first entry is the oldest.
  const callers = new Map<string, { standsFor: string; addedAt: number }>()
  const find = (caller: string) => {
    const found = callers.get(caller)
    return found && performance.now() - found.addedAt < windowMs ? found.standsFor : undefined
  }
  return {
    add(caller, standsFor = caller) {
      callers.delete(caller)
      callers.set(caller, { standsFor, addedAt: performance.now() })
      if (callers.size <= max) return
      const [oldest] = callers.keys()
      if (oldest !== undefined) callers.delete(oldest)
    },
    find,
    has: (caller) => find(caller) !== undefined,
  }
}
