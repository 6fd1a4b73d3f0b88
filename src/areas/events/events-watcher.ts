/** Watches the events of workspaces. */
export interface EventsWatcher {
  /**
   * Calls `onChange` after each change of the events of a workspace that is committed from now on. Returns a function that
   * stops watching.
   */
  watch(workspaceId: string, onChange: () => void): Promise<() => void>
}

export interface EventsWatcherOptions {
  /** Reads a digest of the newest events of each workspace. */
  readDigests: (workspaceIds: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** Called once for each outage in which digests cannot be read. They are read again until it ends. */
  onReadError: (error: unknown) => void
}

const pollEveryMs = 1_000

interface Watch {
  workspaceId: string
  digest: string | undefined
  onChange: () => void
}

/**
 * Polls the database while somebody watches: one statement for all workspaces, and the next one only when it has been
 * answered. The watches of all processes see the changes of all processes (decision 0100).
 */
export function createEventsWatcher({ readDigests, onReadError }: EventsWatcherOptions): EventsWatcher {
  const watches = new Set<Watch>()
  let isPolling = false
  let isFailing = false

  function schedule(): void {
    isPolling = watches.size > 0
    if (isPolling) setTimeout(() => void poll().then(schedule), pollEveryMs).unref()
  }

  async function poll(): Promise<void> {
    // The digest of a watch that begins meanwhile may be newer than the answer.
    const asked = [...watches]
    if (asked.length === 0) return
    try {
      const digests = await readDigests([...new Set(asked.map(({ workspaceId }) => workspaceId))])
      isFailing = false
      for (const watch of asked) compare(watch, digests)
    } catch (error) {
      if (!isFailing) onReadError(error)
      isFailing = true
    }
  }

  function compare(watch: Watch, digests: ReadonlyMap<string, string>): void {
    const digest = digests.get(watch.workspaceId)
    if (digest === watch.digest || !watches.has(watch)) return
    watch.digest = digest
    watch.onChange()
  }

  return {
    async watch(workspaceId, onChange) {
      const digests = await readDigests([workspaceId])
      const watch = { workspaceId, digest: digests.get(workspaceId), onChange }
      watches.add(watch)
      if (!isPolling) schedule()
      return () => void watches.delete(watch)
    },
  }
}
