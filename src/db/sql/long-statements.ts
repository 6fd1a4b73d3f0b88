import { sql } from 'drizzle-orm'
import type { Executor } from '../client.ts'

/** Removes the statement timeout for a transaction that erases: reading and deleting many rows takes longer than a request may. */
export async function allowLongStatements(transaction: Executor): Promise<void> {
  await transaction.execute(sql`set local statement_timeout = 0`)
}
