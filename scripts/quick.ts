// What takes less than three minutes, while working: `npm run quick`. Types, lint of the files that differ from main, and
// the tests of their folders with those that hold for every operation. `npm run check` comes before a commit.
import { basename } from 'node:path'
import { git, runStep, vitest } from './run-steps.ts'

const ofEveryOperation = ['isolation', 'permissions', 'events-of-every-operation'].map(
  (name) => `tests/api/${name}.test.ts`,
)
const listed = ['ls-files', '--cached', '--others', '--exclude-standard'] as const
const isOfRest = /\.(browser|load)\.test\.ts$|^tests\/(acceptance|platform|fuzz)\//
const all = git(...listed, ':(glob)tests/**/*.test.ts')
  .split('\n')
  .filter((file) => !isOfRest.test(file))

const changed = git('diff', '--name-only', '--diff-filter=d', git('merge-base', 'HEAD', 'main'))
  .split('\n')
  .concat(git('ls-files', '--others', '--exclude-standard').split('\n'))
  .filter(Boolean)
const linted = changed.filter((file) => /\.(ts|js)$/.test(file))
const tests = new Set([...ofEveryOperation, ...changed.flatMap(findTests)])

const steps = [
  {
    name: 'types, beside lint',
    commands: [
      'npm run --silent types',
      ...(linted.length > 0 ? [`node node_modules/eslint/bin/eslint.js ${linted.join(' ')}`] : []),
    ],
  },
  { name: 'the build', commands: ['npm run --silent build'] },
  { name: `${tests.size} files of tests`, commands: [`${vitest} --mode first ${[...tests].join(' ')}`] },
]
for (const step of steps) {
  const { hasPassed, lines } = await runStep(step)
  if (hasPassed) continue
  console.log(`\n=== failed: ${step.name}\n${lines.join('\n')}`)
  process.exitCode = 1
  break
}

/** The tests of the folder of a file: those with its name or that of the file, such as tests/api/teams.create.test.ts. */
function findTests(file: string): string[] {
  if (all.includes(file)) return [file]
  const [root, ...folders] = file.split('/').slice(0, -1)
  if (root !== 'src') return []
  const names = [folders.at(-1), basename(file).split('.')[0]].map((name) =>
    name?.replaceAll('-', '').toLowerCase(),
  )
  return all.filter((test) => {
    const words = basename(test).toLowerCase().replaceAll('-', '').split('.')
    return names.some((name) => name !== undefined && words.includes(name))
  })
}
