import { compare } from '../compare.ts'
import { openSmallDatabase } from '../databases.ts'
import type { Area } from '../harness.ts'
import type { Load } from '../loads.ts'
import { percentile, roundMs } from '../report.ts'
import { startService } from '../compared-servers.ts'
import { makeWorstBodies, type WorstBodies } from '../../tests/support/worst-bodies.ts'

export const refusals: Area = {
  name: 'refusals',
  title: 'Refusals of the costliest bodies of 64 KiB, one at a time',
  async prepare(bench) {
    const ours = await startService(bench, await openSmallDatabase(bench))
    const description = await fetch(`${ours.origin}/openapi.json`)
    const operations = makeWorstBodies((await description.json()) as Parameters<typeof makeWorstBodies>[0])
    return operations
      .filter(({ path }) => path.startsWith('/v1/'))
      .map((operation) =>
        compare(bench, {
          name: `${operation.operationId}, ${operation.bodies.size} bodies`,
          load: refuse(operation),
          subjects: [ours],
          rounds: 1,
          roundSeconds: 1,
        }),
      )
  },
}

/** Sends the bodies in turn, each at least once. */
function refuse({ method, path, bodies }: WorstBodies): Load {
  return async ({ origin, database }, seconds) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${database.apiKey}` }
    const tookMs: number[] = []
    const start = performance.now()
    while (performance.now() - start < seconds * 1000) {
      for (const [kind, body] of bodies) {
        const at = performance.now()
        const answer = await fetch(origin + path, { method, headers, body })
        await answer.arrayBuffer()
        tookMs.push(performance.now() - at)
        if (answer.status !== 400 && answer.status !== 404)
          throw new Error(`${path} answers ${kind} with ${answer.status}`)
      }
    }
    return {
      requests: tookMs.length,
      requestsPerSecond: (tookMs.length / (performance.now() - start)) * 1000,
      p50Ms: roundMs(percentile(tookMs, 0.5)),
      p99Ms: roundMs(percentile(tookMs, 0.99)),
    }
  }
}
