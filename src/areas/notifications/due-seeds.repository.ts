import { sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { isUndecided, quietSince, seeds } from '../../db/schema/seeds.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import type { SeedDue } from '../../domain/seeds.ts'

/** The most seeds that are counted, so that a digest costs little in workspaces with many. It stands for more. */
export const dueCountMax = 100
const workspacesMax = 30

/** A workspace in which seeds are due. */
export interface DueInWorkspace extends Record<SeedDue, number> {
  workspaceName: string
  workspaceSlug: string
}

/** How many undecided seeds of a workspace are so. */
function countOf(condition: SQL): SQL<number> {
  return subquery(sql<number>`(select count(*)::int from (
    select from ${seeds} where ${seeds.workspaceId} = ${memberships.workspaceId} and ${seeds.deletedAt} is null
      and ${isUndecided} and ${condition}
    limit ${sql.raw(String(dueCountMax))}
  ) as due)`)
}

const selectDue = prepared((executor) => {
  const today = hiddenParameter('today', 'date')
  const counted = executor
    .select({
      workspaceName: workspaces.name,
      workspaceSlug: workspaces.slug,
      overdue: countOf(sql`${seeds.decideBy} < ${today}`).as('overdue'),
      week: countOf(sql`${seeds.decideBy} between ${today} and ${hiddenParameter('weekEnd', 'date')}`).as(
        'week',
      ),
      silent: countOf(sql`${quietSince} < ${hiddenParameter('silentSince', 'timestamptz')}`).as('silent'),
    })
    .from(memberships)
    .innerJoin(workspaces, isWorkspace(memberships.workspaceId))
    .where(sql`${memberships.userId} = ${sql.placeholder('userId')}`)
    .orderBy(workspaces.name, workspaces.id)
    .limit(sql.raw(String(workspacesMax)) as unknown as number)
    .as('counted')
  return executor
    .select()
    .from(counted)
    .where(sql`${counted.overdue} + ${counted.week} + ${counted.silent} > 0`)
    .prepare('seeds_count_due_of_member')
})

/** How many seeds are due in the workspaces of a person, up to `dueCountMax` each; those without any are left out. */
export async function countDueSeeds(
  executor: Executor,
  userId: string,
  { silentSince, ...dates }: { today: string; weekEnd: string; silentSince: Date },
): Promise<DueInWorkspace[]> {
  return selectDue(executor).execute({ userId, ...dates, silentSince: silentSince.toISOString() })
}
