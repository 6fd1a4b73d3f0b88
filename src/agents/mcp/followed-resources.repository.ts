import { sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { agentRequests } from '../../db/schema/agent-requests.ts'
import { events, lastPositionOf } from '../../db/schema/events.ts'
import { notifications } from '../../db/schema/notifications.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { isActivePerson } from '../../db/schema/users.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { readOne } from '../../db/sql/json-rows.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { toldKinds } from '../../domain/notifications.ts'
import type { FollowedChanges, FollowedInbox } from './followed-resources.ts'

const after = hiddenParameter('after', 'bigint')

/** The most events that one call looks at. The next one goes on behind them. */
const examinedMax = 1_000

const workspaceId = hiddenParameter('workspaceId', 'uuid')

const kinds = sql.raw(toldKinds.map((kind) => `'${kind}'`).join())

/** The newest notification of each inbox, and the requests that wait. */
const inboxTexts = sql`(
  select coalesce(json_agg(json_build_array(asked.grant_id, concat_ws(' ', newest.id, waiting.ids))), '[]')
  from unnest(${keysParameter('userIds', 'uuid')}, ${keysParameter('grantIds', 'uuid')}) as asked (user_id, grant_id)
  left join lateral (
    select ${notifications.id} as id
    from ${notifications} left join ${seeds} on ${seeds.id} = ${notifications.seedId}
    where ${notifications.userId} = asked.user_id and ${notifications.workspaceId} = ${workspaceId}
      and ${notifications.kind} in (${kinds}) and ${seeds.deletedAt} is null
    order by ${notifications.createdAt} desc, ${notifications.id} desc
    limit 1
  ) as newest on true
  cross join lateral (
    select string_agg(${agentRequests.id}::text, ' ' order by ${agentRequests.createdAt}, ${agentRequests.id}) as ids
    from ${agentRequests}
    where ${agentRequests.grantId} = asked.grant_id and ${agentRequests.state} = 'waiting'
      and ${isActivePerson(agentRequests.askedByUserId)}
  ) as waiting
)`

/** One statement, so that all is of the same moment. The `offset` makes it go by positions: a seed may have many events. */
const selectFollowed = prepared((executor) =>
  executor
    .select({
      last: sql<string>`least(${lastPositionOf(workspaceId)}, ${after} + ${sql.raw(String(examinedMax))})`,
      seeds: subquery(sql<[string, number][]>`(
        select coalesce(json_agg(json_build_array(changed.seed_id, changed.position)), '[]') from (
          select recent.seed_id, max(recent.position) as position from (
            select ${events.seedId} as seed_id, ${events.position} as position from ${events}
            where ${events.workspaceId} = ${workspaceId} and ${events.position} > ${after}
              and ${events.position} <= ${after} + ${sql.raw(String(examinedMax))}
            offset 0
          ) as recent
          where recent.seed_id = any(${keysParameter('seedIds', 'uuid')})
          group by recent.seed_id
        ) as changed
      )`),
      inboxes: sql<[string, string][]>`${inboxTexts}`,
    })
    .from(sql`(select) as nothing`)
    .prepare('events_select_followed'),
)

/** Reads what happened behind a position, up to `last`, and what is in inboxes; no seeds without a position. */
export async function readFollowed(
  executor: Executor,
  query: {
    workspaceId: string
    after: number | null
    seedIds: readonly string[]
    inboxes: readonly FollowedInbox[]
  },
): Promise<FollowedChanges> {
  const { inboxes, ...rest } = query
  const row = await readOne(
    selectFollowed(executor).execute({
      ...rest,
      userIds: inboxes.map(({ userId }) => userId),
      grantIds: inboxes.map(({ grantId }) => grantId),
    }),
  )
  return { last: Number(row.last), seeds: new Map(row.seeds), inboxes: new Map(row.inboxes) }
}
