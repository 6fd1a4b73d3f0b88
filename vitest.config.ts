import { defineConfig } from 'vitest/config'

const report = process.env.TEST_REPORT

const all = ['tests/**/*.test.ts']
const browser = ['tests/**/*.browser.test.ts']
const load = ['tests/**/*.load.test.ts']
/** Processes, adapters and hostile requests. */
const rest = ['tests/{acceptance,platform,fuzz}/**/*.test.ts']

/** The tiers (docs/design/tests.md#tiers): what each mode runs, of all. Without a mode, everything. */
const tiers: Record<string, { include: string[]; exclude: string[] }> = {
  first: { include: all, exclude: [...rest, ...browser, ...load] },
  rest: { include: rest, exclude: [...browser, ...load] },
  browser: { include: browser, exclude: [] },
  load: { include: load, exclude: [] },
}

export default defineConfig(({ mode }) => ({
  test: {
    ...(tiers[mode] ?? { include: all, exclude: [] }),
    // For scripts/repeat-failed.ts.
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    globalSetup: 'tests/support/global-setup.ts',
    setupFiles: ['tests/support/setup.ts'],
    // For two cores. Workers of the first tier wait a part of their time (docs/design/tests.md#tiers); the others have
    // processes and browsers beside them.
    maxWorkers: mode === 'first' ? 3 : 2,
    // docs/design/tests.md#shared-modules
    isolate: false,
    // Requests make much that is soon garbage: with the default of 16 MiB, collecting it took a tenth of the workers' time.
    execArgv: ['--max-semi-space-size=64'],
    // Only what has got stuck takes longer, on any machine. Waits end before (tests/support/eventually.ts).
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { requireAssertions: true, poll: { timeout: 60_000, interval: 20 } },
  },
}))
