import { sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import type { agentGrants } from '../db/schema/agent-grants.ts'
import type { apiKeys } from '../db/schema/api-keys.ts'
import type { Use } from '../concurrency/use-recorder.ts'

/** Updates the last use of rows. Skips rows that another replica has locked. */
export async function writeUses(
  executor: Executor,
  table: typeof apiKeys | typeof agentGrants,
  uses: readonly Use[],
): Promise<void> {
  const ids = sql.param(uses.map((use) => use.id))
  const times = sql.param(uses.map((use) => use.usedAt.toISOString()))
  await executor.execute(sql`
    update ${table} set last_used_at = used.at
    from (
      select id, at
      from ${table} join unnest(${ids}::uuid[], ${times}::timestamptz[]) as use (used_id, at) on id = use.used_id
      where last_used_at is null or last_used_at < at
      for no key update of ${table} skip locked
    ) as used
    where ${table}.id = used.id`)
}
