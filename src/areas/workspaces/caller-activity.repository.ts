import { sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { events } from '../../db/schema/events.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { evidence, seedFollowers, seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { readOne } from '../../db/sql/json-rows.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import type { EventType } from '../../domain/events.ts'
import type { SeedStatus } from '../../domain/seeds.ts'

/** A seed that is waiting for evidence. */
export interface IdleSeed {
  id: string
  title: string
  status: SeedStatus
  /** When its last evidence was added; when it was created, if it has none. ISO 8601. */
  idleSince: string
  hasEvidence: boolean
}

/** A seed that is to be decided. */
export interface DatedSeed {
  id: string
  title: string
  status: SeedStatus
  decideBy: string
}

/** What a member has done in a workspace, and has left. */
export interface OwnWorkRow {
  /** Those to be decided first. */
  datedSeeds: DatedSeed[]
  /** The longest idle first. */
  idleSeeds: IdleSeed[]
  /** The types of the latest events of a new member, of those asked for, by the website or the API. */
  doneTypes: EventType[]
  follows: boolean
  joinedAt: Date
}

const workspaceId = hiddenParameter('workspaceId', 'uuid')
const userId = hiddenParameter('userId', 'uuid')
const idleSeedsMax = sql.raw('5')
const datedSeedsMax = sql.raw('5')
// Whoever did more is not new, and is not looked at further.
const latestEventsMax = sql.raw('500')

// Of people with more seeds in progress, the rest is not looked at: reminders need not be complete.
const ownSeedsMax = sql.raw('200')

const inProgress = sql`${seeds.deletedAt} is null and ${seeds.status} in ('open', 'validating')`
const seedColumns = sql`${seeds.id}, ${seeds.title}, ${seeds.status}, ${seeds.createdAt}`

/** The seeds in progress that the person leads, or created and still takes part in. Both by index: most people have few. */
const ownSeeds = sql`
  (select ${seedColumns} from ${seeds}
    where ${seeds.workspaceId} = ${workspaceId} and ${seeds.leadUserId} = ${userId} and ${inProgress}
    limit ${ownSeedsMax})
  union
  (select ${seedColumns} from ${seedParticipants} join ${seeds} on ${seeds.id} = ${seedParticipants.seedId}
    where ${seedParticipants.workspaceId} = ${workspaceId} and ${seedParticipants.userId} = ${userId}
      and ${seeds.createdByUserId} = ${userId} and ${inProgress}
    limit ${ownSeedsMax})`

const isDated = sql`${inProgress} and ${seeds.decideBy} <= ${hiddenParameter('dueUntil', 'date')}`
const datedColumns = sql`${seeds.id}, ${seeds.title}, ${seeds.status}, ${seeds.decideBy}`

/** Of a table of the people of seeds, by its index of memberships. */
const datedSeedsOf = (people: typeof seedParticipants | typeof seedFollowers) => sql`
  (select ${datedColumns} from ${people} join ${seeds} on ${seeds.id} = ${people.seedId}
    where ${people.workspaceId} = ${workspaceId} and ${people.userId} = ${userId} and ${isDated}
    limit ${ownSeedsMax})`

/** The seeds in progress that are to be decided by then, and that the person leads, joined or follows. */
const datedSeeds = sql`
  select own.id, own.title, own.status, own.decide_by from (
    (select ${datedColumns} from ${seeds}
      where ${seeds.workspaceId} = ${workspaceId} and ${seeds.leadUserId} = ${userId} and ${isDated}
      limit ${ownSeedsMax})
    union ${datedSeedsOf(seedParticipants)} union ${datedSeedsOf(seedFollowers)}
  ) as own order by own.decide_by, own.id limit ${datedSeedsMax}`

const idleSeeds = sql`
  select own.id, own.title, own.status, coalesce(latest.at, own.created_at) as idle_since,
    latest.at is not null as has_evidence
  from (${ownSeeds}) as own left join lateral (
    select ${evidence.createdAt} as at from ${evidence}
    where ${evidence.seedId} = own.id and ${evidence.withdrawnAt} is null
    order by ${evidence.createdAt} desc, ${evidence.id} desc limit 1
  ) as latest on true
  where coalesce(latest.at, own.created_at) < ${hiddenParameter('idleBefore', 'timestamptz')}
  order by idle_since, own.id limit ${idleSeedsMax}`

const doneTypes = sql`
  select distinct type from (
    select ${events.type}, ${events.source} from ${events}
    where ${events.workspaceId} = ${workspaceId} and ${events.actorUserId} = ${userId}
    order by ${events.createdAt} desc, ${events.id} desc limit ${latestEventsMax}
  ) as latest where source in ('web', 'api') and type = any(${keysParameter('types', 'text')})`

const selectOwnWork = prepared((executor) =>
  executor
    .select({
      datedSeeds: sql<DatedSeed[]>`coalesce((
        select json_agg(json_build_object('id', id, 'title', title, 'status', status, 'decideBy', decide_by) order by decide_by, id)
        from (${datedSeeds}) as dated), '[]')`.as('dated_seeds'),
      idleSeeds: sql<IdleSeed[]>`coalesce((
        select json_agg(json_build_object('id', id, 'title', title, 'status', status,
          'idleSince', idle_since, 'hasEvidence', has_evidence) order by idle_since, id)
        from (${idleSeeds}) as idle), '[]')`.as('idle_seeds'),
      doneTypes: sql<
        EventType[]
      >`case when ${memberships.joinedAt} > ${hiddenParameter('newSince', 'timestamptz')}
        then array(${doneTypes}) else '{}' end`.as('done_types'),
      follows: subquery(sql<boolean>`exists (select from ${seedFollowers}
        where ${seedFollowers.workspaceId} = ${workspaceId} and ${seedFollowers.userId} = ${userId})`).as(
        'follows',
      ),
      joinedAt: memberships.joinedAt,
    })
    .from(memberships)
    .where(sql`${memberships.workspaceId} = ${workspaceId} and ${memberships.userId} = ${userId}`)
    .prepare('own_work_select'),
)

/** What a member has done in a workspace, of some types of events, and has left. One prepared statement. */
export async function findCallerActivity(
  executor: Executor,
  input: {
    workspaceId: string
    userId: string
    /** A date. */
    dueUntil: string
    idleBefore: Date
    /** Since when members have joined who are new. */
    newSince: Date
    types: readonly EventType[]
  },
): Promise<OwnWorkRow> {
  const { types, idleBefore, newSince, ...ids } = input
  const times = { idleBefore: idleBefore.toISOString(), newSince: newSince.toISOString() }
  const values = { ...ids, ...times, types: [...types] }
  return readOne(selectOwnWork(executor).execute(values))
}
