import { sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { evidence, seedFollowers, seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { readOne } from '../../db/sql/json-rows.ts'
import { prepared } from '../../db/sql/prepared.ts'
import type { EventType } from '../../kernel/events.ts'
import type { SeedStatus } from '../../kernel/seeds.ts'

/** A seed that is waiting for evidence. */
export interface IdleSeed {
  id: string
  title: string
  status: SeedStatus
  /** When its last evidence was added; when it was created, if it has none. ISO 8601. */
  idleSince: string
  hasEvidence: boolean
}

/** What a member has done in a workspace, and has left. */
export interface OwnWorkRow {
  /** The longest idle first. */
  idleSeeds: IdleSeed[]
  /** The types of the latest events of the member, of those asked for, by the website or the API. */
  doneTypes: EventType[]
  follows: boolean
  joinedAt: Date
}

const workspaceId = hiddenParameter('workspaceId', 'uuid')
const userId = hiddenParameter('userId', 'uuid')
const idleSeedsMax = sql.raw('5')
// Whoever did more is not new, and is not looked at further.
const latestEventsMax = sql.raw('500')

/** The seeds that the person leads, or created and still takes part in. By index: both are few for most people. */
const ownSeedIds = sql`
  select ${seeds.id} from ${seeds} where ${seeds.workspaceId} = ${workspaceId} and ${seeds.leadUserId} = ${userId}
  union
  select ${seeds.id} from ${seedParticipants} join ${seeds} on ${seeds.id} = ${seedParticipants.seedId}
  where ${seedParticipants.workspaceId} = ${workspaceId} and ${seedParticipants.userId} = ${userId}
    and ${seeds.createdByUserId} = ${userId}`

const idleSeeds = sql`
  select ${seeds.id}, ${seeds.title}, ${seeds.status}, coalesce(latest.at, ${seeds.createdAt}) as idle_since,
    latest.at is not null as has_evidence
  from ${seeds} left join lateral (
    select ${evidence.createdAt} as at from ${evidence}
    where ${evidence.seedId} = ${seeds.id} and ${evidence.withdrawnAt} is null
    order by ${evidence.createdAt} desc, ${evidence.id} desc limit 1
  ) as latest on true
  where ${seeds.id} in (${ownSeedIds}) and ${seeds.deletedAt} is null and ${seeds.status} in ('open', 'validating')
    and coalesce(latest.at, ${seeds.createdAt}) < ${hiddenParameter('idleBefore', 'timestamptz')}
  order by idle_since, ${seeds.id} limit ${idleSeedsMax}`

const doneTypes = sql`
  select distinct type from (
    select ${events.type}, ${events.source} from ${events}
    where ${events.workspaceId} = ${workspaceId} and ${events.actorUserId} = ${userId}
    order by ${events.createdAt} desc, ${events.id} desc limit ${latestEventsMax}
  ) as latest where source in ('web', 'api') and type = any(${keysParameter('types', 'text')})`

const selectOwnWork = prepared((executor) =>
  executor
    .select({
      idleSeeds: sql<IdleSeed[]>`coalesce((
        select json_agg(json_build_object('id', id, 'title', title, 'status', status,
          'idleSince', idle_since, 'hasEvidence', has_evidence) order by idle_since, id)
        from (${idleSeeds}) as idle), '[]')`.as('idle_seeds'),
      doneTypes: sql<EventType[]>`array(${doneTypes})`.as('done_types'),
      follows: sql<boolean>`exists (select from ${seedFollowers}
        where ${seedFollowers.workspaceId} = ${workspaceId} and ${seedFollowers.userId} = ${userId})`.as(
        'follows',
      ),
      joinedAt: memberships.joinedAt,
    })
    .from(memberships)
    .where(sql`${memberships.workspaceId} = ${workspaceId} and ${memberships.userId} = ${userId}`)
    .prepare('own_work_select'),
)

/** What a member has done in a workspace, of some types of events, and has left. One prepared statement. */
export async function findOwnWork(
  executor: Executor,
  input: { workspaceId: string; userId: string; idleBefore: Date; types: readonly EventType[] },
): Promise<OwnWorkRow> {
  const { types, idleBefore, ...ids } = input
  const values = { ...ids, idleBefore: idleBefore.toISOString(), types: [...types] }
  return readOne(selectOwnWork(executor).execute(values))
}
