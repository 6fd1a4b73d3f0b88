import { openSmallDatabase } from './databases.ts'
import { describeMachine, openBench } from './harness.ts'
import { agents } from './scenarios/agents.ts'
import { me } from './scenarios/me.ts'
import { neighbours } from './scenarios/neighbours.ts'
import { people } from './scenarios/people.ts'
import { refreshes } from './scenarios/refreshes.ts'
import { refusals } from './scenarios/refusals.ts'
import { workspaces } from './scenarios/workspaces.ts'

const areas = [me, workspaces, people, agents, refreshes, neighbours, refusals]

await main(process.argv.slice(2))

/**
 * Compares the service with bare servers, and with itself on a large database. Compared servers are measured
 * alternately: the speed of a machine varies, so only ratios of adjacent measurements are meaningful. Without names it
 * runs all areas.
 */
async function main(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !areas.some((area) => area.name === name))
  if (unknown.length > 0) {
    console.error(`There is no ${unknown.join(', ')}. There are: ${areas.map(({ name }) => name).join(', ')}`)
    process.exitCode = 1
    return
  }
  const bench = await openBench()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void bench.close().finally(() => process.exit(1)))
  try {
    console.log(`${await describeMachine(await openSmallDatabase(bench))}\n`)
    for (const area of areas) if (names.length === 0 || names.includes(area.name)) await bench.measure(area)
  } finally {
    await bench.close()
  }
}
