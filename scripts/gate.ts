// Whether a change is right: what CI asks of each. Run by .ci/run, after `npm ci`. CONTRIBUTING.md says what it leaves to
// .ci/full.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeKinds } from './full-run.ts'
import { repeatFailed } from './repeat-failed.ts'
import { describeTimes, runStep, vitest, type Step, type StepResult } from './run-steps.ts'

const scratch = await mkdtemp(join(tmpdir(), 'gate-'))
const report = join(scratch, 'tests.json')

const steps: Record<string, Step> = {
  build: { name: 'the build, which all later steps use', commands: ['npm run --silent build'] },
  types: {
    name: 'types, beside format, boundaries, unused code and derived documents',
    commands: ['npm run --silent check -- types docs format:check boundaries unused'],
  },
  schema: {
    name: 'a comparison of the schema with what the migrations make',
    commands: [
      // drizzle-kit writes a migration where the schema has something that none makes.
      'npm run --silent generate-migration -- --name not_made_yet | tail -n 1\n' +
        'if [ -n "$(git status --porcelain drizzle)" ]; then\n' +
        '  git status --short drizzle\n' +
        '  echo "A migration is missing, or a former snapshot is there: npm run generate-migration"\n' +
        '  exit 1\n' +
        'fi',
    ],
  },
  lint: { name: 'lint', commands: ['npm run --silent lint'] },
  journey: {
    name: "the README's commands, a crash without a loss, and 3,000 hostile requests",
    commands: [
      `FUZZ_REQUESTS=3000 ${vitest} tests/acceptance/readme.test.ts tests/acceptance/crash.test.ts tests/fuzz`,
    ],
  },
  test: { name: `npm test, on Node ${process.version}`, commands: [`TEST_REPORT=${report} npm test`] },
}

/** The cheapest and surest first. What is in one place runs at once: lint uses one core. */
const order = [['build'], ['types'], ['schema'], ['lint', 'journey'], ['test']]

try {
  process.exitCode = await main()
} finally {
  await rm(scratch, { recursive: true })
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { ci: { type: 'boolean' }, only: { type: 'string' }, installed: { type: 'string' } },
  })
  const { only, installed } = values
  if (only !== undefined && !(only in steps)) {
    console.error(`There is no step ${only}. There are: ${Object.keys(steps).join(', ')}`)
    return 2
  }
  const results: StepResult[] = []
  const notes: string[] = []
  if (installed !== undefined)
    results.push({ name: 'npm ci', seconds: Number(installed), hasPassed: true, output: '', lines: [] })
  for (const ids of only === undefined ? order : [[only]]) {
    const together = ids.flatMap((id) => steps[id] ?? [])
    const result = await runStep({
      name: together.map(({ name }) => name).join('; beside '),
      commands: together.flatMap(({ commands }) => commands),
    })
    const mayRepeat = !result.hasPassed && values.ci === true && ids.includes('test')
    const failedOnce = mayRepeat ? await repeatFailed(report, result.output) : undefined
    if (failedOnce) {
      result.hasPassed = true
      notes.push(...failedOnce)
    }
    results.push(result)
    if (!result.hasPassed) break
  }
  console.log(describeTimes(results))
  console.log(`${String(results.reduce((sum, { seconds }) => sum + seconds, 0)).padStart(5)} s  in all`)
  const failed = results.find(({ hasPassed }) => !hasPassed)
  if (failed) {
    console.log(`\n=== failed: ${failed.name}\n${failed.lines.join('\n')}`)
    return 1
  }
  if (only === undefined) console.log(`\nNot asked here, but by .ci/full:\n${await describeKinds()}`)
  if (notes.length > 0)
    console.log(
      `\n${notes.join('\n')}\nEach needs a row in .ci/flaky.md, and to be mended in the next change.`,
    )
  console.log('\n=== passed')
  return 0
}
