import { sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import type { agentGrants } from '../db/schema/agent-grants.ts'
import type { apiKeys } from '../db/schema/api-keys.ts'
import type { Use } from '../concurrency/use-recorder.ts'

/** Updates the last use of rows. Retries those that are locked, by another replica or by the change that the use made. */
export async function writeUses(
  executor: Executor,
  table: typeof apiKeys | typeof agentGrants,
  uses: readonly Use[],
  retry: (use: Use) => void,
): Promise<void> {
  const ids = sql.param(uses.map((use) => use.id))
  const times = sql.param(uses.map((use) => use.usedAt.toISOString()))
  const { rows } = await executor.execute<{ id: string }>(sql`
    with due as (
      select id, at
      from ${table} join unnest(${ids}::uuid[], ${times}::timestamptz[]) as use (used_id, at) on id = use.used_id
      where last_used_at is null or last_used_at < at
    ), free as (
      select id from ${table} where id in (select id from due) for no key update skip locked
    ), used as (
      update ${table} set last_used_at = due.at from due join free using (id) where ${table}.id = due.id
    )
    select id from due where id not in (select id from free)`)
  const locked = new Set(rows.map(({ id }) => id))
  for (const use of uses) if (locked.has(use.id)) retry(use)
}
