/** Who watches which workspace. */
export interface WatchingMember {
  workspaceId: string
  userId: string
  sessionId: string
}

export interface WatchListener {
  onChange: () => void
  /** Called when the session or the membership has ended. */
  onEnd: () => void
}

/** Watches the events of workspaces. */
export interface EventsWatcher {
  /**
   * Calls `onChange` after each change of the events of a workspace that is committed from now on. Returns a function that
   * stops watching.
   */
  watch(member: WatchingMember, listener: WatchListener): Promise<() => void>
}

export interface EventsWatcherOptions {
  /** Reads a digest of the newest events of each workspace. */
  readDigests: (workspaceIds: readonly string[]) => Promise<ReadonlyMap<string, string>>
  /** Finds those whose session or membership has ended, by their places. */
  findEnded: (members: readonly WatchingMember[]) => Promise<number[]>
  /** Called once for each outage in which digests cannot be read. They are read again until it ends. */
  onReadError: (error: unknown) => void
}

const pollEveryMs = 1_000

interface Watch extends WatchListener {
  member: WatchingMember
  digest: string | undefined
}

/**
 * Polls the database while somebody watches: one statement for all workspaces and one for all who watch, and the next
 * ones only when they have been answered. The watches of all processes see the changes of all processes (decision 0100).
 */
export function createEventsWatcher(options: EventsWatcherOptions): EventsWatcher {
  const { readDigests, findEnded, onReadError } = options
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
      const members = asked.map(({ member }) => member)
      const [digests, ended] = await Promise.all([
        readDigests([...new Set(members.map(({ workspaceId }) => workspaceId))]),
        findEnded(members),
      ])
      isFailing = false
      for (const place of ended) asked[place]?.onEnd()
      for (const watch of asked) compare(watch, digests)
    } catch (error) {
      if (!isFailing) onReadError(error)
      isFailing = true
    }
  }

  function compare(watch: Watch, digests: ReadonlyMap<string, string>): void {
    const digest = digests.get(watch.member.workspaceId)
    if (digest === watch.digest || !watches.has(watch)) return
    watch.digest = digest
    watch.onChange()
  }

  return {
    async watch(member, listener) {
      const digests = await readDigests([member.workspaceId])
      const watch = { ...listener, member, digest: digests.get(member.workspaceId) }
      watches.add(watch)
      if (!isPolling) schedule()
      return () => void watches.delete(watch)
    },
  }
}
