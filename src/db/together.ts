/**
 * Awaits statements that a transaction has sent one behind the other, without waiting in between. Throws the error of the
 * first that failed: those behind it fail only because of it, and may do so at the same moment.
 */
export async function together<const Statements extends readonly unknown[]>(
  statements: Statements,
): Promise<{ -readonly [Index in keyof Statements]: Awaited<Statements[Index]> }> {
  const failure = await firstFailure(statements)
  if (failure) throw failure.reason
  const answers: unknown = await Promise.all(statements)
  return answers as {
    -readonly [Index in keyof Statements]: Awaited<Statements[Index]>
  }
}

/** Waits for all statements. Returns the failure of the first that failed. */
export async function firstFailure(
  statements: readonly unknown[],
): Promise<PromiseRejectedResult | undefined> {
  const outcomes = await Promise.allSettled(statements)
  return outcomes.find((outcome) => outcome.status === 'rejected')
}
