import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildCommit } from '../scripts/build-commit.ts'
import type { Baseline } from './harness.ts'

const root = join(import.meta.dirname, '..')

/** The commit that docs/performance-run.md has the figures of. */
export function findMeasuredCommit(): string {
  const text = readFileSync(join(root, 'docs/performance-run.md'), 'utf8')
  const commit = /At commit `([0-9a-f]+)`/.exec(text)?.[1]
  if (commit === undefined) throw new Error('docs/performance-run.md names no commit')
  return commit
}

/** Builds the service of a commit in a folder of its own while `work` runs. */
export async function withBaseline<T>(commit: string, work: (baseline: Baseline) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-baseline-'))
  try {
    return await work({ name: `the service at ${commit}`, args: [buildCommit(commit, folder)] })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
