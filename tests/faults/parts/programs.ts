import { spawnSync } from 'node:child_process'

/** What Debian has to bring, and the package that has it. */
const packages = {
  haproxy: 'haproxy',
  pgbouncer: 'pgbouncer',
  'redis-server': 'redis-server',
  faketime: 'faketime',
  pg_dump: 'postgresql-15',
} as const

export type Program = keyof typeof packages

/** Debian's packages that are missing for some programs. */
export function findMissingPackages(programs: readonly Program[]): string[] {
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0)
  return [...new Set(missing.map((program) => packages[program]))]
}
