import { and, asc, eq, gt, lte, sql } from 'drizzle-orm'
import { eventPositions, events } from '../../db/schema/events.ts'
import type { Database, Executor } from '../../db/client.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { startOf } from '../../kernel/pagination.ts'

// A change of the workspace waits for the deletion of as many at most: about 20 ms.
const sliceMax = 500
const workspacesMax = 500

/**
 * Deletes the events of all workspaces that are from before a time, the oldest first, so that what is kept has no gap. An
 * event that took effect before an older one keeps it until it is old itself.
 */
export async function deleteOldEvents(db: Database, before: Date): Promise<void> {
  for (
    let after = startOf.oldestFirst.id, found = await findWorkspaces(db, { after, before });
    found.length > 0;
    found = await findWorkspaces(db, { after, before })
  ) {
    for (const { workspaceId } of found) {
      while ((await deleteSlice(db, workspaceId, before)) === sliceMax);
      after = workspaceId
    }
  }
}

/** The workspaces whose oldest event is from before a time, by id. */
function findWorkspaces(executor: Executor, { after, before }: { after: string; before: Date }) {
  const { workspaceId, deletedUntil } = eventPositions
  return executor
    .select({ workspaceId })
    .from(eventPositions)
    .where(
      and(
        gt(workspaceId, after),
        subquery(sql`exists (select from ${events} where ${events.workspaceId} = ${workspaceId}
          and ${events.position} = ${deletedUntil} + 1 and ${events.createdAt} < ${before.toISOString()})`),
      ),
    )
    .orderBy(asc(workspaceId))
    .limit(workspacesMax)
}

/** Deletes the oldest events of a workspace. Returns their number. */
function deleteSlice(db: Database, workspaceId: string, before: Date): Promise<number> {
  const isOfWorkspace = eq(eventPositions.workspaceId, workspaceId)
  // eslint-disable-next-line no-restricted-syntax -- a clean-up has no principal
  return db.transaction(async (tx) => {
    // First, as everybody who appends events: who erases a person changes events later.
    const [position] = await tx
      .select({ deletedUntil: eventPositions.deletedUntil })
      .from(eventPositions)
      .where(isOfWorkspace)
      .for('no key update')
    if (!position) return 0
    const oldest = await tx
      .select({ id: events.id, position: events.position, createdAt: events.createdAt })
      .from(events)
      .where(and(eq(events.workspaceId, workspaceId), gt(events.position, position.deletedUntil)))
      .orderBy(asc(events.position))
      .limit(sliceMax)
    const firstKept = oldest.findIndex(({ createdAt }) => createdAt >= before)
    const old = firstKept === -1 ? oldest : oldest.slice(0, firstKept)
    const last = old.at(-1)
    if (!last) return 0
    await tx
      .delete(events)
      .where(and(eq(events.workspaceId, workspaceId), lte(events.position, last.position)))
    await tx
      .update(eventPositions)
      .set({ deletedUntil: last.position, deletedUntilId: last.id })
      .where(isOfWorkspace)
    return old.length
  })
}

/** Since when the events of a workspace are kept: null if none was deleted for its age, `now` if all were. */
export async function findKeptSince(
  executor: Executor,
  { workspaceId, now }: { workspaceId: string; now: Date },
): Promise<Date | null> {
  const oldest = subquery(
    sql<
      string | null
    >`(select min(${events.createdAt}) from ${events} where ${events.workspaceId} = ${workspaceId})`,
  )
  const [row] = await executor
    .select({ oldest })
    .from(eventPositions)
    .where(and(eq(eventPositions.workspaceId, workspaceId), gt(eventPositions.deletedUntil, 0)))
  if (!row) return null
  return row.oldest === null ? now : new Date(row.oldest)
}
