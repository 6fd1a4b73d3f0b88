type CleanUp = () => unknown

const cleanUps: CleanUp[] = []

/**
 * Has something done when the tests of the file are done; what was asked for last is done first. For helpers: a hook of
 * vitest that is registered while a test runs is not called, nor is one that a module registers which another file of
 * the worker has imported before.
 */
export function afterFile(cleanUp: CleanUp): void {
  cleanUps.push(cleanUp)
}

/** Does what was asked for; all of it, also when some of it fails. Called by setup.ts. */
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
