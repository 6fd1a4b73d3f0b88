type CleanUp = () => unknown

const cleanUps: CleanUp[] = []

/**
 * Runs `cleanUp` when all tests of the current file have ended, the last one registered first. Helpers use this instead
 * of Vitest's `afterAll`. Vitest ignores an `afterAll` that is called during a test. And test files share modules, so an
 * `afterAll` at the top level of a helper would apply only to the first file that imports it.
 */
export function afterFile(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp)
}

/** Runs and forgets all registered functions. If some throw, it still runs the rest, then throws an AggregateError. */
export async function cleanUpAfterFile(): Promise<void> {
  const errors: unknown[] = []
  for (let cleanUp = cleanUps.pop(); cleanUp; cleanUp = cleanUps.pop()) {
    try {
      await cleanUp()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'cleaning up after the file failed')
}
