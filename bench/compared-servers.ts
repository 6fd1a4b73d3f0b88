import type { Bench, BenchDatabase, Subject } from './harness.ts'

/** How the service is started, as in production. */
export const service = ['dist/server.js']

const bare = (file: string) => ['--import', 'tsx', `bench/${file}`]

export const startService = (bench: Bench, database: BenchDatabase, where = ''): Promise<Subject> =>
  bench.start(`this service${where}`, service, database)

/** The minimal work of what users read. */
export const startBare = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  bench.start('bare Fastify', bare('bare-server.ts'), database)

/** The minimal work of what users write. */
export const startBareWrites = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  bench.start('bare Fastify', bare('bare-writes-server.ts'), database)

/** The minimal work of reading the validation kit. */
export const startBareKit = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  bench.start('bare Fastify', bare('bare-kit-server.ts'), database)

/** The OAuth server with its records in memory. */
export const startBareOAuth = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  bench.start('the provider in memory', bare('bare-oauth-server.ts'), database)
