/** Records the last use of credentials. */
export interface UseRecorder {
  record: (id: string, usedAt: Date) => void
  /** Writes pending uses, and stops. */
  close: () => Promise<void>
}

/** The last use of a credential. */
export interface Use {
  id: string
  usedAt: Date
}

export interface UseRecorderOptions {
  write: (uses: readonly Use[]) => Promise<void>
  /** Called when uses could not be written. They are retried. */
  onRecordError: (error: unknown) => void
}

const flushIntervalMs = 1_000
const recordedEveryMs = 60_000

/** Collects uses and writes them in batches outside of requests, each id at most once a minute. */
export function createUseRecorder({ write, onRecordError }: UseRecorderOptions): UseRecorder {
  const recorded = new Map<string, number>()
  let waiting = new Map<string, Date>()

  async function flush(): Promise<void> {
    if (waiting.size === 0) return
    const batch = waiting
    waiting = new Map()
    try {
      await write([...batch].map(([id, usedAt]) => ({ id, usedAt })))
    } catch (error) {
      onRecordError(error)
      for (const [id, usedAt] of batch) if (!waiting.has(id)) waiting.set(id, usedAt)
    }
  }

  function forgetOld(now: number): void {
    for (const [id, at] of recorded) {
      // Entries are in order of time: the rest is newer.
      if (now - at < recordedEveryMs) return
      recorded.delete(id)
    }
  }

  let flushing = Promise.resolve()
  const timer = setInterval(() => {
    flushing = flushing.then(flush)
  }, flushIntervalMs).unref()

  return {
    record(id, usedAt) {
      const now = usedAt.getTime()
      if (now - (recorded.get(id) ?? -Infinity) < recordedEveryMs) return
      forgetOld(now)
      recorded.delete(id)
      recorded.set(id, now)
      waiting.set(id, usedAt)
    },
    async close() {
      clearInterval(timer)
      await flushing
      await flush()
    },
  }
}
