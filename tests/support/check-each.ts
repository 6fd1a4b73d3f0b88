import { expect } from 'vitest'

/**
 * Checks each row by the same code, and fails with the name and the error of every row that does not hold. There must be
 * rows.
 */
export async function checkEach<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  check: (row: Row) => unknown,
): Promise<void> {
  const failures: Record<string, string> = {}
  for (const row of rows) {
    try {
      await check(row)
    } catch (error) {
      failures[nameOf(row)] = String(error)
    }
  }
  expect(rows).not.toEqual([])
  expect(failures).toEqual({})
}
