import type { Bench, BenchDatabase, Subject } from './harness.ts'

/** How the service is started, as in production. */
export const service = ['dist/server.js']

/** Starts what the service is compared with: the service of another commit, or a server of this folder. */
const startCompared = (
  bench: Bench,
  database: BenchDatabase,
  name: string,
  file: string,
): Promise<Subject> =>
  bench.baseline
    ? bench.start(bench.baseline.name, bench.baseline.args, database)
    : bench.start(name, ['--import', 'tsx', `bench/${file}`], database)

export const startService = (bench: Bench, database: BenchDatabase, where = ''): Promise<Subject> =>
  bench.start(`this service${where}`, service, database)

/** The minimal work of what users read. */
export const startBare = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  startCompared(bench, database, 'bare Fastify', 'bare-server.ts')

/** The minimal work of what users write. */
export const startBareWrites = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  startCompared(bench, database, 'bare Fastify', 'bare-writes-server.ts')

/** The minimal work of reading the validation kit. */
export const startBareKit = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  startCompared(bench, database, 'bare Fastify', 'bare-kit-server.ts')

/** The OAuth server with its records in memory. */
export const startBareOAuth = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  startCompared(bench, database, 'the provider in memory', 'bare-oauth-server.ts')
