import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Skipped, type Fault, type Outcome, type Settings } from './fault.ts'
import { backupFaults } from './faults/backups.ts'
import { clientsFaults } from './faults/clients.ts'
import { diskFaults } from './faults/disks.ts'
import { operationsFaults } from './faults/operations.ts'
import { postgresFaults } from './faults/postgres.ts'
import { memoryLimit, overload, soak } from './faults/pressure.ts'
import { killedJobs, kills, rollingRestart } from './faults/processes.ts'
import { replicasFaults } from './faults/replicas.ts'
import { surroundingsFaults } from './faults/surroundings.ts'
import { findMissingPackages } from './parts/programs.ts'
import { hasDebianPostgres } from './parts/postgres.ts'
import { createScope, type Scope } from './parts/processes.ts'
import { describeResult, writeTable, type Result } from './report.ts'
import { createTemplates, openStage, type Stage, type StageOptions, type Templates } from './stage.ts'

const faults: Fault[] = [
  ...[rollingRestart, kills, killedJobs],
  ...postgresFaults,
  ...surroundingsFaults,
  ...diskFaults,
  ...replicasFaults,
  ...clientsFaults,
  ...[overload, memoryLimit, soak],
  ...backupFaults,
  ...operationsFaults,
]

const usage = `npm run faults -- [name …] [--list] [--short] [--json] [--write] [--keep] [--minutes N]

Without names, all faults; with --short six of them, in less time each.
--json    the results as JSON on standard output
--write   the results into the table of docs/reliability.md
--keep    the scratch directories, with the logs
--minutes how long the soak takes (20)`

/** What the faults of CI share, with PostgreSQL 15 where it is, which its pg_dump can read. */
const stageOfCi: StageOptions = { binaries: hasDebianPostgres ? 'debian' : 'embedded' }

// A fault that takes longer than this has got stuck.
const limitMs = 5 * 60_000

process.exitCode = await main()

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      list: { type: 'boolean' },
      short: { type: 'boolean' },
      json: { type: 'boolean' },
      write: { type: 'boolean' },
      keep: { type: 'boolean' },
      minutes: { type: 'string', default: '20' },
    },
  })
  const unknown = positionals.filter((name) => !faults.some((fault) => fault.name === name))
  if (values.help || unknown.length > 0) {
    console.error(unknown.length > 0 ? `There is no ${unknown.join(', ')}: see --list.` : usage)
    return values.help ? 0 : 1
  }
  const isShort = values.short ?? false
  const chosen = faults.filter(({ name, isInCi }) =>
    positionals.length > 0 ? positionals.includes(name) : !isShort || isInCi,
  )
  if (values.list) {
    for (const { name, does } of chosen) console.log(`${name.padEnd(22)} ${does}`)
    return 0
  }
  const needed = isShort ? [] : chosen.flatMap(({ needs = [] }) => needs)
  const missing = findMissingPackages(['haproxy', ...needed])
  if (missing.length > 0) {
    console.error(`These packages of Debian's are not installed: ${missing.join(', ')}`)
    return 2
  }
  const results = await runAll(chosen, { isShort, minutes: Number(values.minutes) }, async (result) => {
    if (values.json !== true) console.log(describeResult(result))
    if (values.write) await writeTable(faults, [result])
  })
  if (values.json) console.log(JSON.stringify(results, undefined, 2))
  return results.some(({ outcome }) => outcome && outcome.misses.length > 0) ? 1 : 0
}

function shareStage(templates: Templates): { scope: Scope; open: () => Promise<Stage> } {
  const scope = createScope()
  let stage: Promise<Stage> | undefined
  return { scope, open: () => (stage ??= openStage(scope, templates, stageOfCi)) }
}

async function runAll(
  chosen: readonly Fault[],
  settings: Settings,
  tell: (result: Result) => Promise<void>,
): Promise<Result[]> {
  const scope = createScope()
  let isStopping = false
  const stop = () => {
    if (isStopping) return
    isStopping = true
    void scope.close().finally(() => process.exit(1))
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  process.once('uncaughtException', (error) => {
    console.error(error)
    stop()
  })
  // npm does not pass on signals to what its shell runs: when the shell is gone, so are we.
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid !== parent) stop()
  }, 500).unref()
  const results: Result[] = []
  try {
    const templates = createTemplates(scope)
    let shared = shareStage(templates)
    for (const fault of chosen) {
      const isSharing = settings.isShort && fault.isInCi === true
      const startedAt = Date.now()
      const own = isSharing ? shared.scope : createScope()
      scope.defer(own.close)
      const ran = await runOne(fault, settings, templates, own, isSharing ? shared.open : undefined)
      // One that was not met may have left anything.
      const isDone = !isSharing || ('outcome' in ran && ran.outcome.misses.length > 0)
      if (isDone) await own.close()
      if (isDone && isSharing) shared = shareStage(templates)
      const seconds = Math.round((Date.now() - startedAt) / 1_000)
      const { name, goal, does } = fault
      if (settings.isShort && 'outcome' in ran) ran.outcome.notes.push('in less time, with --short')
      const result = { ...{ name, goal, does, seconds }, ...ran }
      results.push(result)
      await tell(result)
    }
  } finally {
    clearInterval(watch)
    await scope.close()
  }
  return results
}

async function runOne(
  fault: Fault,
  settings: Settings,
  templates: Templates,
  scope: Scope,
  openShared?: () => Promise<Stage>,
): Promise<{ outcome: Outcome } | { skipped: string }> {
  const limit = limitMs + (fault.name === 'soak' ? settings.minutes * 60_000 : 0)
  let timer: NodeJS.Timeout | undefined
  const stuck = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end in ${limit / 1_000} s`)), limit)
  })
  const work = async () => {
    const missing = findMissingPackages(fault.needs ?? [])
    if (missing.length > 0) throw new Skipped(`${missing.join(', ')} is not installed`)
    const options = typeof fault.stage === 'function' ? await fault.stage(scope) : fault.stage
    const stage = await (openShared?.() ?? openStage(scope, templates, options))
    const outcome = await fault.run(stage, settings, templates)
    if (outcome.misses.length > 0) console.error(await readProxyErrors(stage.folder))
    return outcome
  }
  try {
    return { outcome: await Promise.race([work(), stuck]) }
  } catch (error) {
    if (error instanceof Skipped) return { skipped: error.message }
    const story = error instanceof Error ? (error.stack ?? error.message) : String(error)
    console.error(story)
    return { outcome: { misses: [`it broke off: ${story.split('\n')[0]}`], notes: [] } }
  } finally {
    clearTimeout(timer)
  }
}

/** The last requests that HAProxy saw end otherwise than with an answer, to find out why a goal was missed. */
async function readProxyErrors(folder: string): Promise<string> {
  const log = await readFile(join(folder, 'haproxy.log'), 'utf8').catch(() => '')
  const isBroken = (line: string) => /" *$/.test(line) && !line.includes(' ---- ')
  return log.split('\n').filter(isBroken).slice(-20).join('\n')
}
