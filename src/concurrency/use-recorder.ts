import { createWriteBehind } from './write-behind.ts'

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
  /** `retry` is for uses that could not be written now. */
  write: (uses: readonly Use[], retry: (use: Use) => void) => Promise<void>
  /** Called when uses could not be written. They are retried. */
  onRecordError: (error: unknown) => void
}

const recordedEveryMs = 60_000

/** Writes uses in batches outside of requests, each id at most once a minute. */
export function createUseRecorder({ write, onRecordError }: UseRecorderOptions): UseRecorder {
  const uses = createWriteBehind<Use>({
    keyOf: (use) => use.id,
    merge: (_before, use) => use,
    write,
    onError: onRecordError,
  })
  const recorded = new Map<string, number>()

  function forgetOld(now: number): void {
    for (const [id, at] of recorded) {
      // Entries are in order of time: the rest is newer.
      if (now - at < recordedEveryMs) return
      recorded.delete(id)
    }
  }

  return {
    record(id, usedAt) {
      const now = usedAt.getTime()
      if (now - (recorded.get(id) ?? -Infinity) < recordedEveryMs) return
      forgetOld(now)
      recorded.delete(id)
      recorded.set(id, now)
      uses.add({ id, usedAt })
    },
    close: uses.close,
  }
}
