import { and, asc, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import { prepared } from '../../db/sql/prepared.ts'

const lockMemberships = prepared((executor) =>
  executor
    .select({ workspaceId: memberships.workspaceId })
    .from(memberships)
    .innerJoin(workspaces, and(eq(workspaces.id, memberships.workspaceId), isNull(workspaces.deletedAt)))
    .where(
      and(
        eq(memberships.userId, sql.placeholder('userId')),
        gt(memberships.workspaceId, sql.placeholder('after')),
      ),
    )
    .orderBy(asc(memberships.workspaceId))
    .limit(sql.placeholder('limit'))
    .for('key share', { of: memberships })
    .prepare('memberships_lock_of_user'),
)

/** The workspaces of a person behind an id, in the order of their ids. The memberships cannot end before the transaction does. */
export async function lockMembershipsOfPerson(
  executor: Executor,
  input: { userId: string; after: string; limit: number },
): Promise<string[]> {
  const rows = await lockMemberships(executor).execute(input)
  return rows.map(({ workspaceId }) => workspaceId)
}
