import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../scripts/run-steps.ts'
import type { Baseline } from './harness.ts'

const root = join(import.meta.dirname, '..')

/** The commit that docs/performance-run.md has the figures of. */
export function findMeasuredCommit(): string {
  const text = readFileSync(join(root, 'docs/performance-run.md'), 'utf8')
  const commit = /At commit `([0-9a-f]+)`/.exec(text)?.[1]
  if (commit === undefined) throw new Error('docs/performance-run.md names no commit')
  return commit
}

/** Builds the service of a commit in a folder of its own while `work` runs, with its own packages where they differ. */
export async function withBaseline<T>(commit: string, work: (baseline: Baseline) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-baseline-'))
  const run = (...parameters: string[]) =>
    execFileSync('npm', parameters, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    git('archive', '--output', join(folder, 'source.tar'), commit)
    execFileSync('tar', ['-xf', 'source.tar'], { cwd: folder })
    const hasSamePackages = git('diff', '--name-only', commit, '--', 'package-lock.json') === ''
    if (hasSamePackages) await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    else run('ci', '--no-fund', '--no-audit')
    run('run', '--silent', 'build')
    return await work({ name: `the service at ${commit}`, args: [join(folder, 'dist/server.js')] })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
