import { setTimeout } from 'node:timers/promises'
import { createAgentAccess } from '../agent-access.ts'
import { refreshInTurn } from '../chains.ts'
import { below } from '../compare.ts'
import type { Trial } from '../report.ts'
import { company, crowd, seedWithEvidence } from '../databases.ts'
import { memoryMb, peakMemoryMb, type Area } from '../harness.ts'
import { repeat, sendNext, type Load } from '../loads.ts'
import { service } from '../subjects.ts'
import { openWriteDatabase } from '../write-database.ts'
import { writeRequests } from '../write-requests.ts'
import { kitRequests } from './kit.ts'

const idleMs = 5_000
const loadSeconds = 60

/** The connections of each read, list, write and kit; with those of the refreshes about fifty. */
const atOnce = 2

export const memory: Area = {
  name: 'memory',
  title: `Memory (RSS) ${idleMs / 1000} s after the start, and at most in ${loadSeconds} s of mixed load`,
  async prepare(bench) {
    const original = await openWriteDatabase(bench)
    // With its jobs: mails are part of the load.
    const database = await bench.copy('mixed', original)
    const trial: Trial = {
      name: 'mixed load',
      async run() {
        const subject = await bench.startAnew('this service', service, database, {
          path: '/ready',
          everyMs: 5,
        })
        await setTimeout(idleMs)
        const idleMb = memoryMb(subject)
        const agents = await createAgentAccess(subject, 4)
        const [first] = agents
        if (!first) throw new Error('there is no agent')
        const paths = [
          ...['/v1/me', '/v1/workspaces', `/v1/workspaces/${company.slug}`],
          ...[`/v1/workspaces/${company.slug}/members`, `/v1/workspaces/${company.slug}/events`],
          ...[`/v1/workspaces/${crowd.slug}/people`, `/v1/workspaces/${crowd.slug}/seeds`],
          `/v1/seeds/${seedWithEvidence}/evidence`,
        ]
        const { http, oneSeedOverMcp } = kitRequests(first)
        const loads: Load[] = [
          ...paths.map((path) => repeat(() => ({ path }), atOnce)),
          ...[http, oneSeedOverMcp].map((request) => repeat(() => request, atOnce)),
          ...Object.values(writeRequests(original)).map((requestOf) => {
            let place = 0
            return sendNext(() => requestOf(place++), atOnce)
          }),
          refreshInTurn(() => agents),
        ]
        // The writes name their writers.
        const reading = { ...subject, database: { ...database, callers: original.readers } }
        await Promise.all(loads.map((load) => load(reading, loadSeconds)))
        const peakMb = peakMemoryMb(subject)
        await bench.stop(subject)
        const row = { server: 'this service', unit: 'MB' }
        return [
          { ...row, request: 'idle', values: [idleMb], goal: below(110) },
          { ...row, request: 'mixed load', values: [peakMb], goal: below(180) },
        ]
      },
    }
    return [trial]
  },
}
