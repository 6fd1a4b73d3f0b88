import { atMost, compare } from '../compare.ts'
import { company, openSmallDatabase } from '../databases.ts'
import type { Area } from '../harness.ts'
import { repeat, sendAtRate } from '../loads.ts'
import type { Trial } from '../report.ts'
import { startBare, startService } from '../compared-servers.ts'

const requests = {
  'GET /v1/me': '/v1/me',
  'GET /v1/workspaces/{slug}': '/v1/workspaces/filler-7',
  'members, first page': `/v1/workspaces/${company.slug}/members`,
}

const topSeconds = 2

export const latency: Area = {
  name: 'latency',
  title: 'The p99 against a bare server, of requests at a constant half of the lower top rate',
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const ours = await startService(bench, database)
    const bare = await startBare(bench, database)
    return Object.entries(requests).map(([name, path]): Trial => ({
      name,
      async run() {
        const tops: number[] = []
        for (const subject of [ours, bare]) {
          const load = repeat(() => ({ path }))
          // The code that requests run is compiled meanwhile.
          await load(subject, topSeconds)
          tops.push((await load(subject, topSeconds)).requestsPerSecond)
        }
        return compare(bench, {
          name,
          load: sendAtRate(path, Math.min(...tops) / 2),
          subjects: [ours, bare],
          rounds: 5,
          roundSeconds: 2,
          ratios: [{ of: ours, to: bare, by: 'p99Ms', goal: atMost(1.5) }],
        }).run()
      },
    }))
  },
}
