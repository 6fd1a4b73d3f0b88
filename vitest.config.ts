import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: 'tests/support/global-setup.ts',
    setupFiles: ['tests/support/setup.ts'],
    // Vitest leaves a core to itself, of which there may be only two.
    maxWorkers: 2,
    // Files share modules. Importing the service again for each of them took a third of the time (docs/decisions/0060).
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true },
  },
})
