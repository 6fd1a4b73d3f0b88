// What .ci/run does not ask, kind by kind. Run by .ci/full, after `npm ci`. It goes on after a red kind.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { debianPrograms, kinds, type DebianPackage, type DebianProgram, type Kind } from './full-kinds.ts'
import { describeKinds, writeResults, type KindResult } from './full-run.ts'
import { repeatFailed } from './repeat-failed.ts'
import { findFirstFailure, git, runStep } from './run-steps.ts'

const usage = `.ci/full [kind …] [--list] [--write]

Without names, all kinds. The status is 1 when one is red, or is not done because a program cannot be installed.
--list    the kinds, with what docs/full-run.md knows of each
--write   a row for each kind that ran into docs/full-run.md`

/** Whether the lists of packages are new. */
let isUpdated = false

const scratch = await mkdtemp(join(tmpdir(), 'full-'))

try {
  process.exitCode = await main()
} finally {
  await rm(scratch, { recursive: true })
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' }, list: { type: 'boolean' }, write: { type: 'boolean' } },
  })
  const unknown = positionals.filter((name) => !kinds.some((kind) => kind.name === name))
  if (values.help || unknown.length > 0) {
    console.log(unknown.length > 0 ? `There is no kind ${unknown.join(', ')}.\n\n${usage}` : usage)
    return values.help ? 0 : 2
  }
  if (values.list) {
    console.log(await describeKinds())
    return 0
  }
  if (values.write && git('status', '--porcelain', '--', '.', ':!docs/full-run.md') !== '') {
    console.error('There are changes that are not committed: a row names the commit that was run.')
    return 2
  }
  const built = await runStep({
    name: 'the build, which all kinds use',
    commands: ['npm run --silent build'],
  })
  if (!built.hasPassed) return 1
  const results: KindResult[] = []
  for (const kind of kinds.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    const result = await runKind(kind)
    results.push(result)
    if (values.write) await writeResults([result])
  }
  console.log(`\n${'kind'.padEnd(14)} seconds  result    why`)
  for (const { name, seconds, outcome, why } of results)
    console.log(`${name.padEnd(14)} ${String(seconds).padStart(7)}  ${outcome.padEnd(8)}  ${why}`)
  const flaky = findFlaky()
  if (flaky !== undefined) console.log(`\n${flaky}`)
  return flaky === undefined && results.every(({ outcome }) => outcome === 'green') ? 0 : 1
}

/** What is wrong with the list of tests that failed once: it is for what is mended next. */
function findFlaky(): string | undefined {
  const rows = readFileSync(new URL('../.ci/flaky.md', import.meta.url), 'utf8').match(
    /^\|.*\| \d{4}-\d\d-\d\d \|$/gm,
  )
  const oldest = new Date(Date.now() - 14 * 86_400_000).toISOString().slice(0, 10)
  const dates = (rows ?? []).map((row) => row.slice(-12, -2)).filter((date) => date < oldest)
  if (dates.length > 0) return `.ci/flaky.md has rows that are older than 14 days: ${dates.join(', ')}`
  return (rows?.length ?? 0) > 10 ? '.ci/flaky.md has more than ten rows.' : undefined
}

async function runKind({ name, does, needs, commands, mayRepeat = false }: Kind): Promise<KindResult> {
  const result = {
    name,
    commit: git('rev-parse', '--short', 'HEAD'),
    date: new Date().toISOString().slice(0, 10),
    seconds: 0,
  }
  const missing = needs.filter((program) => !isInstalled(program) && !install(program))
  if (missing.length > 0) {
    const why = `${missing.map((program) => debianPrograms[program].in).join(', ')} cannot be installed here`
    console.log(`\n=== ${name}: not done. ${why}`)
    return { ...result, outcome: 'not done', why }
  }
  const failedOnce: string[] = []
  for (const command of commands) {
    const report = join(scratch, `${name}.json`)
    const step = await runStep({
      name: `${name}: ${does}`,
      commands: [`export TEST_REPORT=${report}; ${command}`],
    })
    result.seconds += step.seconds
    if (step.hasPassed) continue
    console.log(`\n=== ${name} failed\n${step.lines.join('\n')}`)
    const repeated = mayRepeat ? await repeatFailed(report, step.output) : undefined
    if (!repeated) return { ...result, outcome: 'red', why: findFirstFailure(step) }
    console.log(repeated.join('\n'))
    failedOnce.push(...repeated)
  }
  return { ...result, outcome: 'green', why: failedOnce.join('; ') }
}

function isInstalled(program: DebianProgram): boolean {
  return program.startsWith('/') ? existsSync(program) : spawnSync('which', [program]).status === 0
}

/** Installs the package of a program, if apt-get can. Its service must not run: tests start servers of their own. */
function install(program: DebianProgram): boolean {
  if (process.getuid?.() !== 0 || spawnSync('which', ['apt-get']).status !== 0) return false
  if (!isUpdated) aptGet(['update'])
  isUpdated = true
  const { in: name, service }: DebianPackage = debianPrograms[program]
  if (!aptGet(['install', '--yes', '--no-install-recommends', name])) return false
  // In case it was started in spite of the run level.
  if (service) spawnSync('service', [service, 'stop'])
  return isInstalled(program)
}

function aptGet(parameters: readonly string[]): boolean {
  // Run level 1, in which Debian starts no services.
  const { status, stderr } = spawnSync(
    'env',
    ['RUNLEVEL=1', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', ...parameters],
    { stdio: ['ignore', 'ignore', 'pipe'], timeout: 300_000 },
  )
  if (status !== 0) console.error(String(stderr).trim().split('\n').slice(-5).join('\n'))
  return status === 0
}
