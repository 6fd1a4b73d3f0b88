import { and, desc, eq, gt, gte, inArray, isNull, lt, lte, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { isCommon } from '../../db/sql/common-words.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, pictureUrl, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { orderByOf } from '../../db/sql/keyset.ts'
import { selectPageBytes } from '../../db/sql/page-bytes.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { seedBytes } from '../../db/sql/text-bytes.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { searchEntries } from '../../db/schema/search.ts'
import { isUndecided, quietSince, seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { pageBytesMax, type ListOrder, type PageRange } from '../../kernel/pagination.ts'
import {
  type DueCondition,
  type SeedBalance,
  type SeedDue,
  type SeedSort,
  type SeedStatus,
  type SeedTime,
} from '../../domain/seeds.ts'
import { isRestorable } from './seed-deletion.repository.ts'
import { hasLabels, isOfTeam, isTeamOfSeed } from './seed-sorting.repository.ts'
import {
  isKept,
  isSeedCreator,
  isSeedLead,
  seedColumns,
  seedCreators,
  seedLeads,
} from './seeds.repository.ts'
import type { Seed } from './seeds.schemas.ts'

/** The statements of plain lists by their order: of a workspace, and of one status there. */
const selectSeeds = {
  createdAt: prepareListsBy('createdAt', 'seeds_select'),
  updatedAt: prepareListsBy('updatedAt', 'seeds_select_changed'),
  activityAt: prepareListsBy('activityAt', 'seeds_select_active'),
}

function prepareListsBy(sort: SeedTime, name: string) {
  const filter = eq(seeds.status, hiddenParameter('status', 'text'))
  return {
    ofWorkspace: prepared((executor) => prepareSeeds(executor, { name: `${name}_of_workspace`, sort })),
    ofStatus: prepared((executor) => prepareSeeds(executor, { name: `${name}_of_status`, sort, filter })),
  }
}

interface SeedsStatement {
  /** Without one, the statement is for one use. */
  name?: string
  filter?: SQL | undefined
  /** Which deleted seeds are listed, instead of those that are not. */
  deleted?: SQL | undefined
  sort?: SeedSort
}

function prepareSeeds(
  executor: Executor,
  { name = '', filter, deleted, sort = 'createdAt' }: SeedsStatement,
) {
  const workspaceId = name === '' ? sql.placeholder('workspaceId') : hiddenParameter('workspaceId', 'uuid')
  const isInWorkspace = eq(seeds.workspaceId, workspaceId)
  const { at, order } = keyOf(sort)
  const where = and(isInWorkspace, deleted ?? isKept, filter)
  const page = selectPageBytes(executor, seeds, seedBytes, where, at, order)
  const rows = executor
    .select(itemColumns<Seed>(seedColumns))
    .from(page)
    .innerJoin(seeds, eq(seeds.id, page.id))
    .leftJoin(seedCreators, isSeedCreator)
    .leftJoin(seedLeads, isSeedLead)
    .leftJoin(teams, isTeamOfSeed)
    .where(lt(page.bytesBefore, pageBytesMax))
    .orderBy(...orderByOf(order, at, seeds.id))
  return selectJsonRows(executor, rows).prepare(name)
}

/** What seeds without a date to decide by are sorted as: they come last in both directions. */
const undated = { decideBy: '9999-12-31T23:59:59.999Z', '-decideBy': '0001-01-01T00:00:00.000Z' }

const isByTime = (sort: SeedSort): sort is SeedTime => sort !== 'decideBy' && sort !== '-decideBy'

/** The order of lists by a sort. */
export function orderOfSort(sort: SeedSort): ListOrder {
  return sort === 'decideBy' ? 'oldestFirst' : 'newestFirst'
}

/** The time of a seed that lists are sorted by. */
export function timeOfSort(sort: SeedSort, seed: Pick<Seed, SeedTime | 'decideBy'>): string {
  if (isByTime(sort)) return seed[sort]
  return seed.decideBy === null ? undated[sort] : `${seed.decideBy}T00:00:00.000Z`
}

function keyOf(sort: SeedSort) {
  const order = orderOfSort(sort)
  if (isByTime(sort)) return { at: seeds[sort], order }
  const none = sql.raw(`'${undated[sort]}'::timestamptz`)
  return { at: sql`coalesce(${seeds.decideBy}::timestamp at time zone 'UTC', ${none})`, order }
}

/** Which seeds a list contains: those that match all of it. */
export interface SeedFilter {
  /** One of them at least. */
  statuses?: readonly SeedStatus[]
  ids?: readonly string[]
  /** Null: seeds without a lead. */
  leadUserId?: string | null
  teamId?: string
  /** All of them. */
  labelIds?: readonly string[]
  balance?: SeedBalance
  /** Only seeds that are not decided, and are due. */
  due?: { when: SeedDue } & DueCondition
  /** Only seeds whose last activity is not before this time. */
  activeSince?: Date
  /** Only seeds with these words. */
  text?: string
  createdByUserId?: string
  /** Only seeds that the person has joined, or only others. */
  joined?: boolean
  /** Only seeds that were deleted since, and that this person, or everybody, may restore. */
  deleted?: { since: Date; creatorId?: string }
}

interface SeedsQuery extends PageRange {
  workspaceId: string
  userId: string
  seedUrlPrefix: string
  filter: SeedFilter
  sort: SeedSort
}

/** Seeds of a workspace as a person sees them, the latest time first; no more than `pageBytesMax`. */
export async function listSeeds(executor: Executor, { filter, sort, ...values }: SeedsQuery) {
  const { statuses, text, deleted } = filter
  const [status, ...further] = statuses ?? []
  const isPlain = Object.keys(filter).every((name) => name === 'statuses') && further.length === 0
  if (isPlain && isByTime(sort)) {
    const { ofWorkspace, ofStatus } = selectSeeds[sort]
    return readOne(
      status === undefined
        ? ofWorkspace(executor).execute(values)
        : ofStatus(executor).execute({ ...values, status }),
    )
  }
  // There are too many combinations to prepare each once.
  const statement = prepareSeeds(executor, {
    filter: isIn(
      filter,
      text !== undefined && !deleted && (await areCommon(executor, values.workspaceId, text))
        ? hasWordsItself
        : hasWords,
    ),
    deleted: deleted && isRestorable(deleted),
    sort,
  })
  return readOne(statement.execute(values))
}

const selectCommon = prepared((executor) =>
  executor
    .select({ isCommon: isCommon('seed').mapWith(Boolean).as('is_common') })
    .from(sql`(select) as nothing`)
    .prepare('seeds_are_words_common'),
)

/** Whether at least half of the newest seeds of a workspace have all of these words. */
async function areCommon(executor: Executor, workspaceId: string, asked: string): Promise<boolean> {
  const found = await readOne(selectCommon(executor).execute({ workspaceId, asked }))
  return found.isCommon
}

/**
 * The condition of a filter; of `deleted`, only how it finds words. The workspace is the `workspaceId` of the statement, the
 * person its `userId`.
 */
export function isIn(filter: SeedFilter, hasItsWords = hasWords): SQL | undefined {
  const { statuses, ids, text, createdByUserId, leadUserId, due, activeSince, joined, deleted } = filter
  const { teamId, labelIds = [], balance } = filter
  const workspaceId = sql`${sql.placeholder('workspaceId')}::uuid`
  const isFound = deleted ? hasWordsDeleted : hasItsWords
  return and(
    statuses && inArray(seeds.status, [...statuses]),
    ids && inArray(seeds.id, [...ids]),
    leadUserId === undefined ? undefined : isLedBy(leadUserId),
    teamId === undefined ? undefined : isOfTeam(teamId),
    labelIds.length === 0 ? undefined : hasLabels(labelIds),
    balance && hasBalance[balance],
    due && isDue(due),
    activeSince && gte(seeds.activityAt, activeSince),
    text === undefined ? undefined : isFound(workspaceId, sql`${text}::text`),
    createdByUserId === undefined ? undefined : eq(seeds.createdByUserId, createdByUserId),
    joined === undefined ? undefined : isJoined(joined),
  )
}

function isLedBy(userId: string | null): SQL {
  return userId === null ? isNull(seeds.leadUserId) : eq(seeds.leadUserId, userId)
}

/** Whether the evidence of a seed, by the counts that triggers keep, says this on balance. */
export const hasBalance: Record<SeedBalance, SQL> = {
  for: gt(seeds.supportsCount, seeds.contradictsCount),
  against: lt(seeds.supportsCount, seeds.contradictsCount),
  even: sql`(${eq(seeds.supportsCount, seeds.contradictsCount)} and ${gt(seeds.supportsCount, sql`-${seeds.neutralCount}`)})`,
  none: sql`(${seeds.supportsCount}, ${seeds.contradictsCount}, ${seeds.neutralCount}) = (0, 0, 0)`,
}

/** Whether a seed is not decided, and is due. */
export function isDue(due: DueCondition): SQL | undefined {
  if ('silentSince' in due)
    return and(sql`${quietSince} < ${due.silentSince.toISOString()}::timestamptz`, isUndecided)
  const { from, to } = due
  const isFrom = from === undefined ? undefined : gte(seeds.decideBy, from)
  return and(isFrom, lte(seeds.decideBy, to), isUndecided)
}

/**
 * Whether a seed has all words that are asked for, or words that begin with them: the search of the workspace (decision
 * 0134). The workspace is compared as text, so that the index of words is used, and no other.
 */
export function hasWords(workspaceId: SQL, asked: SQL): SQL {
  const query = sql`(select search_query(${workspaceId}, 'seed', false, true, ${asked}))`
  return sql`${seeds.id} in (
    select ${searchEntries.id} from ${searchEntries}
    where ${searchEntries.words} @@ ${query} and ${searchEntries.workspaceId}::text = ${workspaceId}::text
  )`
}

/**
 * The same, for words that most seeds have: the index would give them all before the first is shown. Each seed of a page is
 * looked at instead. PostgreSQL cannot turn this into a join.
 */
function hasWordsItself(workspaceId: SQL, asked: SQL): SQL {
  return subquery(sql`(
    select ${searchEntries.words} @@ (select search_query(${workspaceId}, 'seed', false, true, ${asked}))
    from ${searchEntries}
    where ${searchEntries.id} = ${seeds.id} and ${searchEntries.workspaceId} = ${workspaceId}
  )`)
}

/**
 * The same for counting: PostgreSQL cannot turn this into a join either, which would look up each of the seeds found, and
 * reads those of the workspace beside a hash of the ids.
 */
function isAmongWords(workspaceId: SQL, asked: SQL): SQL {
  return sql`(${hasWords(workspaceId, asked)}) is true`
}

/** The same of deleted seeds, which the index does not have. They are few. */
function hasWordsDeleted(workspaceId: SQL, asked: SQL): SQL {
  const { title, summary, problem, audience, hypothesis, successCriteria, question } = seeds
  const body = sql`concat_ws(' ', ${summary}, ${problem}, ${audience}, ${hypothesis}, array_to_string(${successCriteria}, ' '), ${question})`
  const query = sql`(select search_query(${workspaceId}, 'seed', false, true, ${asked}))`
  return sql`search_keys(${seeds.workspaceId}, 'seed', ${title}, ${body}) @@ ${query}`
}

function isJoined(joined: boolean): SQL {
  const isParticipation = and(
    eq(seedParticipants.seedId, seeds.id),
    // Of the index by memberships.
    eq(seedParticipants.workspaceId, sql.placeholder('workspaceId')),
    eq(seedParticipants.userId, sql.placeholder('userId')),
  )
  return subquery(
    sql`${sql.raw(joined ? '' : 'not ')}exists (select from ${seedParticipants} where ${isParticipation})`,
  )
}

/** The numbers of seeds that a list has with a filter, by their status, without those of which there are none. */
export async function countSeedsByStatus(
  executor: Executor,
  { workspaceId, userId, filter }: { workspaceId: string; userId: string; filter: SeedFilter },
): Promise<Partial<Record<SeedStatus, number>>> {
  const rows = await executor
    .select({ status: seeds.status, count: sql<number>`count(*)::int` })
    .from(seeds)
    .where(
      and(
        eq(seeds.workspaceId, sql.placeholder('workspaceId')),
        filter.deleted ? isRestorable(filter.deleted) : isKept,
        isIn(filter, isAmongWords),
      ),
    )
    .groupBy(seeds.status)
    .prepare('')
    .execute({ workspaceId, userId })
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

const facesMax = 3

/** A participant of a seed, as a picture. */
export interface SeedFace {
  seedId: string
  id: string
  name: string
  image: string | null
}

const selectFaces = prepared((executor) => {
  const faces = executor
    .select({ id: users.id, name: users.name, image: pictureUrl(users.imageKey).as('image') })
    .from(seedParticipants)
    .innerJoin(users, eq(users.id, seedParticipants.userId))
    .where(eq(seedParticipants.seedId, seeds.id))
    .orderBy(
      desc(sql`${seedParticipants.userId} is not distinct from ${seeds.leadUserId}`),
      seedParticipants.joinedAt,
    )
    .limit(sql.raw(String(facesMax)) as unknown as number)
    .as('faces')
  return executor
    .select({ seedId: seeds.id, id: faces.id, name: faces.name, image: faces.image })
    .from(seeds)
    .crossJoinLateral(faces)
    .where(
      and(
        sql`${seeds.id} = any(${keysParameter('seedIds', 'uuid')})`,
        eq(seeds.workspaceId, hiddenParameter('workspaceId', 'uuid')),
      ),
    )
    .prepare('seeds_select_faces')
})

/** Up to three participants of each of some seeds of a workspace, its lead first. */
export async function listSeedFaces(
  executor: Executor,
  { seedIds, ...values }: { workspaceId: string; seedIds: readonly string[]; pictureUrlPrefix: string },
): Promise<SeedFace[]> {
  if (seedIds.length === 0) return []
  return selectFaces(executor).execute({ ...values, seedIds: [...seedIds] })
}
