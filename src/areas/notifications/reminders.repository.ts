import { sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { notifications } from '../../db/schema/notifications.ts'
import { isUndecided, seedFollowers, seeds } from '../../db/schema/seeds.ts'
import { isActive, users } from '../../db/schema/users.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { serviceActorName } from '../../domain/principal.ts'
import { createId } from '../../kernel/ids.ts'

const lockDue = prepared((executor) =>
  executor
    .select({ id: seeds.id })
    .from(seeds)
    .innerJoin(workspaces, isWorkspace(seeds.workspaceId))
    .where(
      sql`${seeds.decideBy} between ${hiddenParameter('from', 'date')} and ${hiddenParameter('to', 'date')}
        and ${seeds.decideBy} is distinct from ${seeds.remindedFor} and ${seeds.deletedAt} is null and ${isUndecided}`,
    )
    .orderBy(seeds.decideBy, seeds.id)
    .limit(hiddenParameter('limit', 'int') as unknown as number)
    // What is changed meanwhile is looked at an hour later.
    .for('no key update', { of: seeds, skipLocked: true })
    .prepare('seeds_lock_to_remind'),
)

/**
 * Locks some undecided seeds that are to be decided on one of these dates, both included, whose people were not reminded of
 * it; the earliest first.
 */
export async function lockToRemind(
  executor: Executor,
  values: { from: string; to: string; limit: number },
): Promise<string[]> {
  const rows = await lockDue(executor).execute(values)
  return rows.map(({ id }) => id)
}

/** The lead and the followers of the seeds that are asked for. */
const people = sql`(
  select asked.seed_id, asked.notice_id, ${seeds.workspaceId} as workspace_id, ${seeds.decideBy} as decide_by, concerned.user_id
  from unnest(${keysParameter('seedIds', 'uuid')}, ${keysParameter('noticeIds', 'uuid')}) as asked (seed_id, notice_id)
  join ${seeds} on ${seeds.id} = asked.seed_id
  cross join lateral (
    select ${seeds.leadUserId} as user_id where ${seeds.leadUserId} is not null
    union select ${seedFollowers.userId} from ${seedFollowers} where ${seedFollowers.seedId} = asked.seed_id
  ) as concerned
) as people`

const insertReminders = prepared((executor) =>
  executor
    .insert(notifications)
    .select((query) =>
      query
        // In the order of the table.
        .select({
          userId: sql<string>`${memberships.userId}`.as('user_id'),
          id: sql<string>`people.notice_id`.as('id'),
          workspaceId: sql<string>`${memberships.workspaceId}`.as('workspace_id'),
          kind: sql<'decision_due'>`'decision_due'`.as('kind'),
          seedId: sql<string>`people.seed_id`.as('seed_id'),
          commentId: sql<null>`null::uuid`.as('comment_id'),
          actorUserId: sql<null>`null::uuid`.as('actor_user_id'),
          actorName: sql<string>`${sql.placeholder('actorName')}::text`.as('actor_name'),
          agentName: sql<null>`null::text`.as('agent_name'),
          data: sql<{
            decideBy: string
          }>`jsonb_build_object('decideBy', to_char(people.decide_by, 'YYYY-MM-DD'))`.as('data'),
          createdAt: sql<Date>`${sql.placeholder('at')}::timestamptz`.as('created_at'),
          readAt: sql<null>`null::timestamptz`.as('read_at'),
          mailedAt: sql<null>`null::timestamptz`.as('mailed_at'),
        })
        .from(people)
        .innerJoin(
          memberships,
          sql`${memberships.workspaceId} = people.workspace_id and ${memberships.userId} = people.user_id`,
        )
        .innerJoin(users, sql`${users.id} = ${memberships.userId}`)
        .where(
          sql`${users.kind} = 'person' and ${isActive} and ${users.notifyDecisions} <> 'off' and not exists (
            select from ${notifications} where ${notifications.seedId} = people.seed_id
              and ${notifications.userId} = people.user_id and ${notifications.kind} = 'decision_due'
              and ${notifications.data} ->> 'decideBy' = to_char(people.decide_by, 'YYYY-MM-DD')
          )`,
        )
        // A membership that ends at the same time is waited for, and left out.
        .for('key share', { of: memberships }),
    )
    .prepare('notifications_insert_reminders'),
)

const markReminded = prepared((executor) =>
  executor
    .update(seeds)
    .set({ remindedFor: sql`${seeds.decideBy}` })
    .where(sql`${seeds.id} = any(${keysParameter('seedIds', 'uuid')})`)
    .prepare('seeds_mark_reminded'),
)

/** Reminds the lead and the followers of locked seeds, each once of each date to decide by. */
export async function insertRemindersOf(
  executor: Executor,
  seedIds: readonly string[],
  at: Date,
): Promise<void> {
  const noticeIds = seedIds.map(() => createId())
  const values = { seedIds: [...seedIds], noticeIds, actorName: serviceActorName, at: at.toISOString() }
  await insertReminders(executor).execute(values)
  await markReminded(executor).execute({ seedIds: [...seedIds] })
}
