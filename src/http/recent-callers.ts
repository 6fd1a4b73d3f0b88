export interface RecentCallers {
  add(caller: string): void
  has(caller: string): boolean
}

/** Remembers the last `max` callers, each for `windowMs` milliseconds after it was last added. In this process only. */
export function createRecentCallers({ windowMs, max }: { windowMs: number; max: number }): RecentCallers {
  // The first entry is the oldest.
  const addedAt = new Map<string, number>()
  return {
    add(caller) {
      addedAt.delete(caller)
      addedAt.set(caller, Date.now())
      if (addedAt.size <= max) return
      const [oldest] = addedAt.keys()
      if (oldest !== undefined) addedAt.delete(oldest)
    },
    has(caller) {
      const at = addedAt.get(caller)
      return at !== undefined && Date.now() - at < windowMs
    },
  }
}
