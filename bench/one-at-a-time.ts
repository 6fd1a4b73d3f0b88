import { below } from './compare.ts'
import { peakMemoryMb, readServerMs, type Bench, type Subject } from './harness.ts'
import { percentile, roundMs, type Trial } from './report.ts'

const rounds = 3
const requestsOfRound = 40

/**
 * Measures a request that is sent again when it was answered, against a goal in milliseconds at p50. On a busy machine,
 * the processor time is what to look at.
 */
export function oneAtATime(
  bench: Bench,
  subject: Subject,
  name: string,
  { goalMs, send }: { goalMs: number; send: () => Promise<Response> },
): Trial {
  return {
    name,
    async run() {
      const took: number[][] = []
      const before = { serverMs: readServerMs(subject), databaseMs: await bench.readDatabaseMs() }
      for (let round = 0; round < rounds; round++) {
        const ofRound: number[] = []
        for (let i = 0; i < requestsOfRound; i++) {
          const at = performance.now()
          const answer = await send()
          await answer.text()
          ofRound.push(performance.now() - at)
          if (!answer.ok) throw new Error(`${name} is answered with ${answer.status}`)
        }
        took.push(ofRound)
      }
      const all = took.flat()
      const serverMs = (readServerMs(subject) - before.serverMs) / all.length
      const databaseMs = ((await bench.readDatabaseMs()) - before.databaseMs) / all.length
      return [
        {
          request: name,
          server: subject.name,
          requestsPerSecond: all.length / (all.reduce((sum, ms) => sum + ms, 0) / 1000),
          p50Ms: roundMs(percentile(all, 0.5)),
          p99Ms: roundMs(percentile(all, 0.99)),
          serverMs,
          databaseMs,
          peakMb: peakMemoryMb(subject),
          values: took.map((ms) => percentile(ms, 0.5)),
          unit: 'ms at p50',
          goal: below(goalMs),
        },
      ]
    },
  }
}
