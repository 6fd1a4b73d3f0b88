import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { git, runStep, vitest } from './run-steps.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** More than this are no accident. */
const filesMax = 3

/** What meets something else at the same moment may fail now and then because it is wrong. */
const neverRepeated = /(^|[./])(races|turns|idempotency|isolation|permissions)(-|\.)/

/** Vitest's line in the summary of a run. */
const hasUnhandledErrors = /^\s*Errors\s+\d+ error/m

interface Report {
  testResults: {
    /** The path of the file. */
    name: string
    status: 'passed' | 'failed'
    message: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

/**
 * Runs the files that failed again, each alone in a process of its own. Returns a line for each failure of the first run if
 * all pass now, or undefined if one fails again or may not be repeated: too many have failed, a file is about what happens at
 * the same moment, or is newer than the last release; or if something failed outside of all tests, which only the output of
 * the run tells.
 */
export async function repeatFailed(reportFile: string, output: string): Promise<string[] | undefined> {
  if (hasUnhandledErrors.test(output)) return undefined
  const report = JSON.parse(await readFile(reportFile, 'utf8').catch(() => '{"testResults":[]}')) as Report
  const failed = report.testResults.filter(({ status }) => status === 'failed')
  const files = failed.map(({ name }) => relative(root, name))
  if (files.length === 0 || files.length > filesMax || !files.every(mayRepeat)) return undefined
  for (const file of files) {
    const commands = [`${vitest} ${file} --maxWorkers 1`]
    if (!(await runStep({ name: `again, alone: ${file}`, commands })).hasPassed) return undefined
  }
  return failed.flatMap(({ message, assertionResults }, i) => {
    const tests = assertionResults.filter(({ status }) => status === 'failed')
    const failures = tests.map(
      ({ fullName, failureMessages }) => [fullName, failureMessages[0] ?? ''] as const,
    )
    return (failures.length > 0 ? failures : [['the whole file', message] as const]).map(
      ([test, text]) => `failed once: ${files[i]} > ${test}: ${text.split('\n')[0]?.slice(0, 200)}`,
    )
  })
}

function mayRepeat(file: string): boolean {
  if (neverRepeated.test(file)) return false
  const [release] = git('log', '-1', '--format=%H', '--', 'docs/released/openapi.json').split('\n')
  return spawnSync('git', ['cat-file', '-e', `${release}:${file}`], { cwd: root }).status === 0
}
