import { and, eq, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { departures } from '../../db/schema/departures.ts'

/**
 * Records that a person left a workspace, was removed from it or declined it. The last record counts, but declining only
 * replaces declining.
 */
export async function recordDeparture(
  executor: Executor,
  row: typeof departures.$inferInsert,
): Promise<void> {
  const { kind, createdAt } = row
  await executor
    .insert(departures)
    .values(row)
    .onConflictDoUpdate({
      target: [departures.workspaceId, departures.userId],
      set: { kind, createdAt },
      // It would let in again who was removed, and as a member who was a viewer.
      ...(kind === 'declined' && { setWhere: eq(departures.kind, 'declined') }),
    })
}

const isOfWorkspace = eq(departures.workspaceId, sql.placeholder('workspaceId'))

const deleteOfUser = prepared((executor) =>
  executor
    .delete(departures)
    .where(and(isOfWorkspace, eq(departures.userId, sql.placeholder('userId'))))
    .prepare('departures_delete_of_user'),
)

/** Deletes the record of a departure, when the person comes back. */
export async function forgetDeparture(
  executor: Executor,
  workspaceId: string,
  userId: string,
): Promise<void> {
  await deleteOfUser(executor).execute({ workspaceId, userId })
}
