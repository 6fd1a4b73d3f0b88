/** Collects what is to be written, and writes it in batches. */
export interface WriteBehind<Entry> {
  add: (entry: Entry) => void
  /** Writes what is collected, and stops. */
  close: () => Promise<void>
}

export interface WriteBehindOptions<Entry> {
  /** Entries of one key are merged until they are written. */
  keyOf: (entry: Entry) => string
  /** Merges an entry that was collected before with a new one. */
  merge: (before: Entry, entry: Entry) => Entry
  /** `retry` is for what could not be written now. */
  write: (entries: readonly Entry[], retry: (entry: Entry) => void) => Promise<void>
  /** The most entries that wait. Beyond it, the oldest is lost. Default: no limit. */
  waitingMax?: number
  /** Called when entries could not be written. They are retried. */
  onError: (error: unknown) => void
}

const writtenEveryMs = 1_000

/** Writes once a second, outside of requests. What was collected within the last second is lost in a crash. */
export function createWriteBehind<Entry>(options: WriteBehindOptions<Entry>): WriteBehind<Entry> {
  const { keyOf, merge, write, waitingMax = Infinity, onError } = options
  let waiting = new Map<string, Entry>()

  function add(entry: Entry): void {
    const key = keyOf(entry)
    const before = waiting.get(key)
    waiting.set(key, before === undefined ? entry : merge(before, entry))
    // A map keeps the order of insertion.
    if (waiting.size > waitingMax) waiting.delete(waiting.keys().next().value ?? key)
  }

  async function flush(): Promise<void> {
    if (waiting.size === 0) return
    const batch = waiting
    waiting = new Map()
    let left: Entry[] = []
    try {
      await write([...batch.values()], (entry) => left.push(entry))
    } catch (error) {
      onError(error)
      left = [...batch.values()]
    }
    // What was collected meanwhile is newer.
    const newer = waiting
    waiting = new Map()
    for (const entry of [...left, ...newer.values()]) add(entry)
  }

  let flushing = Promise.resolve()
  const timer = setInterval(() => {
    flushing = flushing.then(flush)
  }, writtenEveryMs).unref()

  return {
    add,
    async close() {
      clearInterval(timer)
      await flushing
      await flush()
    },
  }
}
