/** Who watches which workspace. */
export interface WatchingMember {
  workspaceId: string
  userId: string
  sessionId: string
}

export interface WatchListener {
  /** Called with the position of the newest event. */
  onChange: (position: number) => void
  /** Called when the session or the membership has ended. */
  onEnd: () => void
}

/** Watches the events of workspaces. */
export interface EventsWatcher {
  /**
   * Calls `onChange` if the newest event of a workspace is not at the position `after`, and after each event that is
   * committed later; without `after`, from now on. Returns a function that stops watching.
   */
  watch(member: WatchingMember, listener: WatchListener, after?: number): Promise<() => void>
  /**
   * Calls `onPosition` once a second with the position of the newest event of a workspace. Returns a function that stops it.
   */
  follow(workspaceId: string, onPosition: (last: number) => void): () => void
}

export interface EventsWatcherOptions {
  /** Reads the position of the newest event of each workspace. */
  readPositions: (workspaceIds: readonly string[]) => Promise<ReadonlyMap<string, number>>
  /** Finds those whose session or membership has ended, by their ordinals. */
  findEnded: (members: readonly WatchingMember[]) => Promise<number[]>
  /** Called once for each outage in which positions cannot be read. They are read again until it ends. */
  onReadError: (error: unknown) => void
  /** How long after each answer they are read again. Default: a second. */
  pollEveryMs?: number | undefined
}

interface Watch extends WatchListener {
  member: WatchingMember
  position: number
}

interface Following {
  workspaceId: string
  onPosition: (last: number) => void
}

/**
 * Polls the database while somebody watches or follows: one statement for all workspaces and one for all who watch, and
 * the next ones only when they have been answered. All processes see the changes of all processes
 * (docs/design/events.md#streams).
 */
export function createEventsWatcher(options: EventsWatcherOptions): EventsWatcher {
  const { readPositions, findEnded, onReadError, pollEveryMs = 1_000 } = options
  const watches = new Set<Watch>()
  const followings = new Set<Following>()
  let isPolling = false
  let isFailing = false

  function schedule(): void {
    isPolling = watches.size + followings.size > 0
    if (isPolling) setTimeout(() => void poll().then(schedule), pollEveryMs).unref()
  }

  async function poll(): Promise<void> {
    // The position of a watch that begins meanwhile may be newer than the answer.
    const asked = [...watches]
    const followed = [...followings]
    if (asked.length + followed.length === 0) return
    try {
      const members = asked.map(({ member }) => member)
      const [positions, ended] = await Promise.all([
        readPositions([...new Set([...members, ...followed].map(({ workspaceId }) => workspaceId))]),
        members.length > 0 ? findEnded(members) : [],
      ])
      isFailing = false
      for (const ordinal of ended) asked[ordinal]?.onEnd()
      for (const watch of asked) compare(watch, positions)
      for (const following of followed)
        if (followings.has(following)) following.onPosition(positions.get(following.workspaceId) ?? 0)
    } catch (error) {
      if (!isFailing) onReadError(error)
      isFailing = true
    }
  }

  function compare(watch: Watch, positions: ReadonlyMap<string, number>): void {
    const position = positions.get(watch.member.workspaceId) ?? 0
    if (position === watch.position || !watches.has(watch)) return
    watch.position = position
    watch.onChange(position)
  }

  return {
    async watch(member, listener, after) {
      const positions = await readPositions([member.workspaceId])
      const watch = { ...listener, member, position: after ?? positions.get(member.workspaceId) ?? 0 }
      watches.add(watch)
      compare(watch, positions)
      if (!isPolling) schedule()
      return () => void watches.delete(watch)
    },
    follow(workspaceId, onPosition) {
      const following = { workspaceId, onPosition }
      followings.add(following)
      if (!isPolling) schedule()
      return () => void followings.delete(following)
    },
  }
}
