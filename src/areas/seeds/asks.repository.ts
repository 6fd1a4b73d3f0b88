import { and, count, eq, gt, min } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'

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
