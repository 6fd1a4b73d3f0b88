import { recordStatements } from './record-statements.ts'

/** Runs something and counts the statements that it sends to the database. */
export async function countQueries(run: () => Promise<unknown>): Promise<number> {
  return (await recordStatements(run)).texts.length
}
