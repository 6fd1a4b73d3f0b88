import { defineConfig } from 'vitest/config'

/** What `npm test` leaves to `npm run test:rest`: processes, adapters, hostile requests, load, and the website in a browser. */
const rest = ['tests/{acceptance,platform,fuzz}/**/*.test.ts', 'tests/**/*.{browser,load}.test.ts']

export default defineConfig(({ mode }) => ({
  test: {
    include: mode === 'rest' ? rest : ['tests/**/*.test.ts'],
    exclude: mode === 'first' ? rest : [],
    globalSetup: 'tests/support/global-setup.ts',
    setupFiles: ['tests/support/setup.ts'],
    // For two cores. Workers of the first tier wait a part of their time (docs/design/tests.md#tiers); the others have
    // processes and browsers beside them.
    maxWorkers: mode === 'first' ? 3 : 2,
    // Files share modules. Importing the service again for each of them took a third of the time
    // (docs/design/tests.md#shared-modules).
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true },
  },
}))
