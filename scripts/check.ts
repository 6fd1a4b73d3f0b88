// What must pass before a commit: `npm run check`. With names of checks, only these, and no tests.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import pLimit from 'p-limit'
import { documents } from './documents.ts'

const root = new URL('../', import.meta.url)

// A look that sees nothing finds nothing wrong. Raise this with the code.
const modulesMin = 600

interface Outcome {
  hasPassed: boolean
  output: string
}

/** Runs a script of package.json. */
function run(script: string, { isShown = false } = {}): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let output = ''
    const child = spawn('npm', ['run', '--silent', script], {
      cwd: root,
      stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.once('error', reject)
    child.once('close', (code) => resolve({ hasPassed: code === 0, output }))
  })
}

async function checkBoundaries(): Promise<Outcome> {
  const { hasPassed, output } = await run('boundaries')
  const modules = Number(/\((\d+) modules/.exec(output)?.[1] ?? 0)
  if (!hasPassed || modules >= modulesMin) return { hasPassed, output }
  return { hasPassed: false, output: `It saw ${modules} modules, which cannot be all.\n` }
}

/** Writes the documents that are made from the code. Fails when one was out of date. */
async function checkDocuments(): Promise<Outcome> {
  const files = ['docs/openapi.json', ...Object.keys(documents)]
  const readAll = () => Promise.all(files.map((file) => readFile(new URL(file, root), 'utf8')))
  const before = await readAll()
  const written = await run('docs')
  if (!written.hasPassed) return written
  const after = await readAll()
  const stale = files.filter((_, i) => before[i] !== after[i])
  return {
    hasPassed: stale.length === 0,
    output: stale.map((file) => `${file} was out of date, and is written now.\n`).join(''),
  }
}

// The slowest first.
const checks: [name: string, check: () => Promise<Outcome>][] = [
  ['lint', () => run('lint')],
  ['types', () => run('types')],
  ['docs', checkDocuments],
  ['format:check', () => run('format:check')],
  ['boundaries', checkBoundaries],
  ['unused', () => run('unused')],
]

const names = process.argv.slice(2)
const unknown = names.filter((name) => !checks.some(([known]) => known === name))
if (unknown.length > 0) throw new Error(`There is no check ${unknown.join(', ')}.`)
const limit = pLimit(Math.min(availableParallelism(), 4))
const results = await Promise.all(
  checks
    .filter(([name]) => names.length === 0 || names.includes(name))
    .map(([name, check]) =>
      limit(async () => {
        const beganAt = Date.now()
        const { hasPassed, output } = await check()
        const seconds = Math.round((Date.now() - beganAt) / 1000)
        console.log(`${hasPassed ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`)
        if (!hasPassed) console.log(output)
        return hasPassed
      }),
    ),
)
let hasPassed = results.every(Boolean)
if (hasPassed && names.length === 0) hasPassed = (await run('test', { isShown: true })).hasPassed
process.exitCode = hasPassed ? 0 : 1
