import { and, count, eq, gt, min, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import { prepared } from '../../db/sql/prepared.ts'

const lockAsks = prepared((executor) =>
  executor
    .select({
      lock: sql`pg_advisory_xact_lock(hashtextextended('asks of ' || ${sql.placeholder('grantId')}::text, 0))`,
    })
    .from(sql`(values (0)) as asks`)
    .prepare('asks_lock_of_grant'),
)

/**
 * Lets one change at a time ask people for an agent, until the transaction ends, so that what `countAsksOfGrant` counts next
 * stays. The row of the grant is not locked: others lock it after a seed.
 */
export async function lockAsksOfGrant(executor: Executor, grantId: string): Promise<void> {
  await lockAsks(executor).execute({ grantId })
}

/** How many people an agent has asked to join seeds since a time, and when it asked the first of them. */
export async function countAsksOfGrant(
  executor: Executor,
  { workspaceId, grantId, since }: { workspaceId: string; grantId: string; since: Date },
): Promise<{ asks: number; first: Date | null }> {
  const [row] = await executor
    .select({ asks: count(), first: min(events.createdAt) })
    .from(events)
    .where(
      and(
        eq(events.workspaceId, workspaceId),
        eq(events.grantId, grantId),
        eq(events.type, 'seed.person_asked'),
        gt(events.createdAt, since),
      ),
    )
  return row ?? { asks: 0, first: null }
}
