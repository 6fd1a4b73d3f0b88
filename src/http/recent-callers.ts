export interface RecentCallers {
  add(caller: string): void
  has(caller: string): boolean
}

/** Remembers callers for `windowMs` after they were last added, the latest `max` of them. In this process alone. */
export function createRecentCallers({ windowMs, max }: { windowMs: number; max: number }): RecentCallers {
  // In the order in which they were added: the first one is the oldest.
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
