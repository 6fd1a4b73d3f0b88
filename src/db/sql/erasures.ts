import { sql } from 'drizzle-orm'
import type { Executor } from '../client.ts'

/**
 * Prepares a transaction that erases many rows. It takes longer than a statement may, and its foreign keys are followed by
 * general plans: of a workspace that is not in the statistics yet, PostgreSQL expects no rows, and would read all of them again
 * for each row that goes.
 */
export async function prepareErasure(transaction: Executor): Promise<void> {
  await transaction.execute(sql`
    select set_config('statement_timeout', '0', true), set_config('plan_cache_mode', 'force_generic_plan', true)`)
}
