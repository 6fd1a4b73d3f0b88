import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { git } from './run-steps.ts'

const root = join(import.meta.dirname, '..')

/** Builds the service of a commit in an empty folder, with its own packages where they differ. Returns the path of its server. */
export function buildCommit(commit: string, folder: string): string {
  const run = (...parameters: string[]) =>
    execFileSync('npm', parameters, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const archive = join(folder, 'source.tar')
  git('archive', '--output', archive, commit)
  execFileSync('tar', ['-xf', archive], { cwd: folder })
  const hasSamePackages = git('diff', '--name-only', commit, '--', 'package-lock.json') === ''
  if (hasSamePackages) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  else run('ci', '--no-fund', '--no-audit')
  run('run', '--silent', 'build')
  return join(folder, 'dist/server.js')
}
