import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['tests/**/*.test.ts'],
    globalSetup: 'tests/support/global-setup.ts',
    setupFiles: ['tests/support/setup.ts'],
    // Vitest leaves a core to itself, of which there may be only two.
    maxWorkers: 2,
    // Most of the time of a file would go into importing the service again: files share modules, and keep to themselves.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { requireAssertions: true },
  },
})
