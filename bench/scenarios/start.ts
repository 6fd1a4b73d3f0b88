import { below } from '../compare.ts'
import type { Trial } from '../report.ts'
import { openSmallDatabase } from '../databases.ts'
import type { Area } from '../harness.ts'
import { service } from '../compared-servers.ts'

const starts = 5

export const start: Area = {
  name: 'start',
  title: 'From the start of the process to the first 200 of /ready, on a migrated database',
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const trial: Trial = {
      name: 'GET /ready',
      async run() {
        const values: number[] = []
        for (let i = 0; i < starts; i++) {
          const subject = await bench.startAnew('this service', service, database, {
            path: '/ready',
            everyMs: 5,
          })
          values.push(subject.startMs)
          await bench.stop(subject)
        }
        return [{ request: 'GET /ready', server: 'this service', values, unit: 'ms', goal: below(1000) }]
      },
    }
    return [trial]
  },
}
