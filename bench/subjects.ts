import type { Bench, BenchDatabase, Subject } from './harness.ts'

/** This service, as production runs it. */
export const startService = (bench: Bench, database: BenchDatabase, where = ''): Promise<Subject> =>
  bench.start(`this service${where}`, ['dist/server.js'], database)

/** The least that the operations of people can be. */
export const startBare = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  bench.start('bare Fastify', ['--import', 'tsx', 'bench/bare-server.ts'], database)

/** The least that reading the validation kit can be. */
export const startBareKit = (bench: Bench, database: BenchDatabase): Promise<Subject> =>
  bench.start('bare Fastify', ['--import', 'tsx', 'bench/bare-kit-server.ts'], database)
