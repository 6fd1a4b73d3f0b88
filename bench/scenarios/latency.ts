import { below } from '../compare.ts'
import type { Trial } from '../report.ts'
import { company, openSmallDatabase } from '../databases.ts'
import { peakMemoryMb, type Area } from '../harness.ts'
import { repeat, sendAtRate, type Measurement } from '../loads.ts'
import { median } from '../report.ts'
import { startService } from '../subjects.ts'

const requests = {
  'GET /v1/me': '/v1/me',
  'GET /v1/workspaces/{slug}': '/v1/workspaces/filler-7',
  'members, first page': `/v1/workspaces/${company.slug}/members`,
}

const topSeconds = 2
const rounds = 3
const roundSeconds = 2

export const latency: Area = {
  name: 'latency',
  title: 'The p99 as multiple of the p50, of requests at a constant half of the top rate',
  async prepare(bench) {
    const subject = await startService(bench, await openSmallDatabase(bench))
    return Object.entries(requests).map(([name, path]): Trial => ({
      name,
      async run() {
        const top = await repeat(() => ({ path }))(subject, topSeconds)
        const load = sendAtRate(path, top.requestsPerSecond / 2)
        const measured: Measurement[] = []
        for (let round = 0; round < rounds; round++) measured.push(await load(subject, roundSeconds))
        const medianOf = (field: keyof Measurement) => median(measured.map((each) => each[field]))
        return [
          {
            request: name,
            server: subject.name,
            requestsPerSecond: medianOf('requestsPerSecond'),
            p50Ms: medianOf('p50Ms'),
            p99Ms: medianOf('p99Ms'),
            peakMb: peakMemoryMb(subject),
            values: measured.map(({ p50Ms, p99Ms }) => p99Ms / p50Ms),
            unit: '× p50',
            goal: below(4),
          },
        ]
      },
    }))
  },
}
