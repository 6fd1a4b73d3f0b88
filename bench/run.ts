import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { git } from '../scripts/run-steps.ts'
import { openSmallDatabase } from './databases.ts'
import { findMeasuredCommit, withBaseline } from './baseline.ts'
import { describeMachine, openBench, type Area, type Baseline } from './harness.ts'
import { connections } from './loads.ts'
import { formatRun, formatSection, formatSummary, isMet, toJson, type Section } from './report.ts'
import { feed } from './scenarios/feed.ts'
import { kit } from './scenarios/kit.ts'
import { latency } from './scenarios/latency.ts'
import { lists } from './scenarios/lists.ts'
import { me } from './scenarios/me.ts'
import { memory } from './scenarios/memory.ts'
import { neighbours } from './scenarios/neighbours.ts'
import { peers } from './scenarios/peers.ts'
import { refreshes } from './scenarios/refreshes.ts'
import { pages } from './scenarios/pages.ts'
import { refusals } from './scenarios/refusals.ts'
import { replicas } from './scenarios/replicas.ts'
import { search } from './scenarios/search.ts'
import { start } from './scenarios/start.ts'
import { webhooks } from './scenarios/webhooks.ts'
import { workspaces } from './scenarios/workspaces.ts'
import { writes } from './scenarios/writes.ts'
import { hasWrk } from './wrk.ts'

const areas = [
  me,
  workspaces,
  lists,
  kit,
  writes,
  feed,
  webhooks,
  refreshes,
  start,
  memory,
  latency,
  neighbours,
  pages,
  search,
  replicas,
  refusals,
  peers,
]

const usage = `npm run bench -- [area …] [--json] [--write]
       npm run bench -- compare [COMMIT] [--json]

Without names, all areas: ${areas.map(({ name }) => name).join(', ')}.
--json    the results as JSON on standard output
--write   all areas, and the results into docs/performance-run.md

compare   builds another commit (default: that of docs/performance-run.md), and fails when the service is slower than that`

process.exitCode = await main()

/**
 * Compares the service with bare servers, and with itself on a large database. Compared servers are measured
 * alternately: the speed of a machine varies, so only ratios of adjacent measurements are meaningful.
 */
async function main(): Promise<number> {
  const { values, positionals: names } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      json: { type: 'boolean' },
      write: { type: 'boolean' },
    },
  })
  const isComparison = names[0] === 'compare' && names.length < 3
  const unknown = isComparison ? [] : names.filter((name) => !areas.some((area) => area.name === name))
  if (values.help || unknown.length > 0) {
    console.error(unknown.length > 0 ? `There is no ${unknown.join(', ')}.\n\n${usage}` : usage)
    return values.help ? 0 : 1
  }
  if (values.write && names.length > 0) {
    console.error('--write is for all areas.')
    return 1
  }
  const print = (text: string) => {
    if (!values.json) console.log(text)
  }
  const { machine, sections } = isComparison
    ? await withBaseline(names[1] ?? findMeasuredCommit(), async (baseline) =>
        measure(
          areas.filter(({ isOfVersions }) => isOfVersions),
          print,
          baseline,
        ),
      )
    : await measure(
        areas.filter(({ name }) => names.length === 0 || names.includes(name)),
        print,
      )
  if (values.json) console.log(toJson(machine, sections))
  if (values.write) await write(machine, sections)
  return isComparison && !sections.every(({ rows }) => rows.every(isMet)) ? 1 : 0
}

async function measure(chosen: readonly Area[], print: (text: string) => void, baseline?: Baseline) {
  const bench = await openBench({ baseline })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void bench.close().finally(() => process.exit(1)))
  const sections: Section[] = []
  try {
    const load = `${hasWrk ? 'wrk' : 'autocannon, since wrk is not installed'}, ${connections} connections`
    const machine = await describeMachine(await openSmallDatabase(bench), load)
    print(`${machine}\n`)
    for (const area of chosen) {
      const obstacle = area.findObstacle?.()
      if (obstacle !== undefined) {
        print(`${area.name} is left out: ${obstacle}\n`)
        continue
      }
      const section = await bench.measure(area)
      sections.push(section)
      print(formatSection(section))
    }
    print(formatSummary(sections))
    return { machine, sections }
  } finally {
    await bench.close()
  }
}

async function write(machine: string, sections: readonly Section[]): Promise<void> {
  const commit = git('rev-parse', '--short', 'HEAD')
  const file = join(import.meta.dirname, '../docs/performance-run.md')
  await writeFile(file, formatRun({ commit, at: new Date(), machine, sections }))
}
