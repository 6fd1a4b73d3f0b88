import { execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

/** The command that runs files of tests; options follow it. */
export const vitest = 'node node_modules/vitest/vitest.mjs run'

/** A step of `.ci/run` or `.ci/full`. */
export interface Step {
  name: string
  /** What bash runs, all at once. The output of several is printed one after the other, when each has ended. */
  commands: readonly string[]
}

export interface StepResult {
  name: string
  seconds: number
  hasPassed: boolean
  /** All that the commands printed, as plain text. */
  output: string
  /** The lines that say why, of the commands that failed. */
  lines: string[]
}

const root = new URL('../', import.meta.url)
const linesMax = 60

/** Runs all commands of a step to their end, and prints what they print. */
export async function runStep({ name, commands }: Step): Promise<StepResult> {
  console.log(`\n=== ${name}`)
  const beganAt = Date.now()
  const runs = await Promise.all(
    commands.map((command) => runCommand(command, { isShown: commands.length === 1 })),
  )
  const seconds = Math.round((Date.now() - beganAt) / 1_000)
  console.log(`--- ${seconds} s`)
  const failed = runs.filter(({ hasPassed }) => !hasPassed)
  const lines = failed.flatMap(({ output }) => pickLines(output, Math.floor(linesMax / failed.length)))
  const output = runs.map((run) => run.output).join('\n')
  return { name, seconds, hasPassed: failed.length === 0, output, lines }
}

function runCommand(
  command: string,
  { isShown }: { isShown: boolean },
): Promise<{ hasPassed: boolean; output: string }> {
  return new Promise((resolve, reject) => {
    let output = ''
    const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (isShown) process.stdout.write(text)
      })
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (!isShown) process.stdout.write(`$ ${command}\n${output}`)
      if (signal) output += `\nIt was ended by ${signal}.\n`
      resolve({ hasPassed: code === 0, output: stripVTControlCharacters(output) })
    })
  })
}

/** The lines of a failed command that say why: where the list of failures begins, otherwise the last ones. */
function pickLines(output: string, max: number): string[] {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  const from = lines.findIndex((line) => /⎯ (Failed|Unhandled) (Tests|Suites|Errors?)/.test(line))
  return from < 0 ? lines.slice(-max) : lines.slice(from, from + max)
}

/** The line of a failed step that names a failure, for a table. */
export function findFirstFailure({ lines }: StepResult): string {
  const names = /^\s*(FAIL|FAILED|✖|✗|×)\s|\berror\b|missed|is not installed/i
  return (lines.find((line) => names.test(line)) ?? lines.at(-1) ?? '').trim().slice(0, 160)
}

/** What git says, in the folder of the project. Throws when it fails. */
export function git(...parameters: string[]): string {
  return execFileSync('git', parameters, { cwd: fileURLToPath(root), encoding: 'utf8' }).trim()
}

/** How long each step took, one to a line. */
export function describeTimes(results: readonly StepResult[]): string {
  const lines = results.map(({ seconds, name }) => `${String(seconds).padStart(5)} s  ${name}`)
  return `\n${lines.join('\n')}`
}
