import type { Bench, BenchDatabase, Subject } from './harness.ts'

/** The service as in production. */
export const startService = (bench: Bench, database: BenchDatabase, where = ''): Promise<Subject> =>
  bench.start(`this service${where}`, ['dist/server.js'], database)

/** The minimal work of the operations of users. */
export const startBare = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  bench.start('bare Fastify', ['--import', 'tsx', 'bench/bare-server.ts'], database)

/** The minimal work of reading the validation kit. */
export const startBareKit = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  bench.start('bare Fastify', ['--import', 'tsx', 'bench/bare-kit-server.ts'], database)
