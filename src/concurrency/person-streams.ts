/** Counts the open streams of each person in a process, so that nobody takes those of all others. */
export interface PersonStreams {
  /** Counts a stream. Returns what ends the count, once; undefined, without counting, if the person has too many. */
  open(userId: string): (() => void) | undefined
}

/** The most streams of one person in a process, over all API keys and agents. */
export const personStreamsMax = 100

/** Creates a count of streams by person. */
export function createPersonStreams(max = personStreamsMax): PersonStreams {
  const counts = new Map<string, number>()
  return {
    open(userId) {
      const count = counts.get(userId) ?? 0
      if (count >= max) return undefined
      counts.set(userId, count + 1)
      let isOpen = true
      return () => {
        if (!isOpen) return
        isOpen = false
        const left = (counts.get(userId) ?? 1) - 1
        if (left > 0) counts.set(userId, left)
        else counts.delete(userId)
      }
    },
  }
}
