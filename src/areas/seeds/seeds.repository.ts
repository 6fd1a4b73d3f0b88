import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  isNull,
  like,
  lt,
  or,
  sql,
  type Column,
  type SQL,
} from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { contains } from '../../db/sql/contains.ts'
import { isForeignKeyViolation } from '../../db/errors.ts'
import { itemColumns, pictureUrl, readOne, selectJsonRows } from '../../db/sql/json-rows.ts'
import { isAfter, isBefore } from '../../db/sql/keyset.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import { bytesBefore, evidenceBytes, seedBytes } from '../../db/sql/text-bytes.ts'
import { events } from '../../db/schema/events.ts'
import { evidence, seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { errors } from '../../kernel/errors.ts'
import { pageBytesMax, type JsonRows, type PageRange } from '../../kernel/pagination.ts'
import type { EvidenceAuthors, SeedSort, SeedStatus, Verdict } from '../../kernel/seeds.ts'
import type { Evidence, Seed, SeedParticipant } from './seeds.schemas.ts'

/** What people write about a seed, and its status. */
export interface SeedFields {
  title: string
  summary: string
  problem: string | null
  audience: string | null
  hypothesis: string | null
  successCriteria: string[]
  status: SeedStatus
}

export interface LockedSeed extends SeedFields {
  workspaceId: string
}

const fieldColumns = {
  title: seeds.title,
  summary: seeds.summary,
  problem: seeds.problem,
  audience: seeds.audience,
  hypothesis: seeds.hypothesis,
  successCriteria: seeds.successCriteria,
  status: seeds.status,
}

const seedColumns = {
  id: seeds.id,
  ...fieldColumns,
  createdByUserId: seeds.createdByUserId,
  agentName: seeds.agentName,
  ...participationIn(seeds.id),
  createdAt: seeds.createdAt,
  updatedAt: seeds.updatedAt,
}

/** The number of participants of a seed, and whether the statement's `userId` is one of them. */
export function participationIn(seedId: Column) {
  const isOfSeed = eq(seedParticipants.seedId, seedId)
  const isOfUser = eq(seedParticipants.userId, sql.placeholder('userId'))
  return {
    participantCount: sql<number>`(select count(*)::int from ${seedParticipants} where ${isOfSeed})`,
    joined: sql<boolean>`exists (select from ${seedParticipants} where ${and(isOfSeed, isOfUser)})`,
  }
}

/** The statements of plain lists by their order: of a workspace, and of one status there. */
const selectSeeds = {
  createdAt: prepareListsBy('createdAt', 'seeds_select'),
  updatedAt: prepareListsBy('updatedAt', 'seeds_select_changed'),
}

function prepareListsBy(sort: SeedSort, name: string) {
  const filter = eq(seeds.status, sql.placeholder('status'))
  return {
    ofWorkspace: prepared((executor) => prepareSeeds(executor, { name: `${name}_of_workspace`, sort })),
    ofStatus: prepared((executor) => prepareSeeds(executor, { name: `${name}_of_status`, sort, filter })),
  }
}

interface SeedsStatement {
  /** Without one, the statement is for one use. */
  name?: string
  filter?: SQL | undefined
  sort?: SeedSort
  isBackward?: boolean
}

function prepareSeeds(
  executor: Executor,
  { name = '', filter, sort = 'createdAt', isBackward = false }: SeedsStatement,
) {
  const isInWorkspace = eq(seeds.workspaceId, sql.placeholder('workspaceId'))
  const at = seeds[sort]
  const placed = placeRows(executor, seeds, seedBytes, and(isInWorkspace, filter), { at, isBackward })
  const direction = isBackward ? asc : desc
  const rows = executor
    .select(itemColumns<Seed>(seedColumns))
    .from(placed)
    .innerJoin(seeds, eq(seeds.id, placed.id))
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(direction(at), direction(seeds.id))
  return selectJsonRows(executor, rows).prepare(name)
}

/**
 * The ids of the rows of a page, each with the total bytes of the texts of the rows before it: newest first, or backward
 * from the position of the page.
 */
function placeRows(
  executor: Executor,
  table: typeof seeds | typeof evidence,
  bytes: SQL<number>,
  filter: SQL | undefined,
  {
    at = table.createdAt,
    isBackward = false,
  }: { at?: AnyPgColumn<{ data: Date }>; isBackward?: boolean } = {},
) {
  const [direction, isInRange] = isBackward ? [asc, isAfter] : [desc, isBefore]
  const page = executor
    .select({ id: table.id, at, size: bytes.as('row_size') })
    .from(table as typeof seeds)
    .where(and(filter, isInRange(at, table.id)))
    .orderBy(direction(at), direction(table.id))
    .limit(sql.placeholder('limit'))
    .as('page')
  const order = sql`${direction(page.at)}, ${direction(page.id)}`
  return executor
    .select({ id: page.id, bytesBefore: bytesBefore(page.size, order).as('bytes_before') })
    .from(page)
    .as('placed')
}

/** Which seeds a list contains: those that match all of it. */
export interface SeedFilter {
  status?: SeedStatus
  /** Only seeds whose title, summary or problem contains this, ignoring case. */
  text?: string
  createdByUserId?: string
  /** Only seeds that the person has joined, or only others. */
  joined?: boolean
}

interface SeedsQuery extends PageRange {
  workspaceId: string
  userId: string
  filter: SeedFilter
  sort: SeedSort
  /** The rows before the position of the range, the nearest first. */
  isBackward?: boolean
}

/** Seeds of a workspace as a person sees them, the latest time first; no more than `pageBytesMax`. */
export function listSeeds(executor: Executor, { filter, sort, isBackward, ...values }: SeedsQuery) {
  const { status } = filter
  const isPlain = !isBackward && Object.keys(filter).every((name) => name === 'status')
  if (isPlain) {
    const { ofWorkspace, ofStatus } = selectSeeds[sort]
    return readOne(
      status === undefined
        ? ofWorkspace(executor).execute(values)
        : ofStatus(executor).execute({ ...values, status }),
    )
  }
  // There are too many combinations to prepare each once.
  const statement = prepareSeeds(executor, {
    filter: isIn(filter),
    sort,
    isBackward: isBackward === true,
  })
  return readOne(statement.execute(values))
}

/** The number of seeds of a workspace that a filter matches. */
export async function countSeeds(
  executor: Executor,
  { workspaceId, userId, filter }: Pick<SeedsQuery, 'workspaceId' | 'userId' | 'filter'>,
): Promise<number> {
  const [row] = await executor
    .select({ count: count() })
    .from(seeds)
    .where(and(eq(seeds.workspaceId, workspaceId), isIn(filter)))
    .prepare('')
    .execute({ userId })
  return row?.count ?? 0
}

function isIn({ status, text, createdByUserId, joined }: SeedFilter): SQL | undefined {
  return and(
    status === undefined ? undefined : eq(seeds.status, status),
    text === undefined ? undefined : containsText(text),
    createdByUserId === undefined ? undefined : eq(seeds.createdByUserId, createdByUserId),
    joined === undefined ? undefined : hasJoined(joined),
  )
}

/** A seed that others have changed. */
export interface ChangedSeed {
  id: string
  title: string
  status: SeedStatus
  /** When others changed it last. */
  changedAt: Date
}

const changedSeedsMax = 5

const selectChangedByOthers = prepared((executor) => {
  const [userId, since] = [sql.placeholder('userId'), sql.placeholder('since')]
  const changedAt = sql<Date>`greatest(
    (select max(${events.createdAt}) from ${events}
      where ${events.workspaceId} = ${seeds.workspaceId} and ${events.targetId} = ${seeds.id}
        and ${events.type} in ('seed.created', 'seed.updated')
        and ${events.actorUserId} is distinct from ${userId} and ${events.createdAt} > ${since}),
    (select max(${evidence.createdAt}) from ${evidence}
      where ${evidence.seedId} = ${seeds.id}
        and ${evidence.authorUserId} is distinct from ${userId} and ${evidence.createdAt} > ${since})
  )`
  return executor
    .select({
      id: seeds.id,
      title: seeds.title,
      status: seeds.status,
      changedAt: changedAt.mapWith(seeds.updatedAt),
    })
    .from(seedParticipants)
    .innerJoin(seeds, eq(seeds.id, seedParticipants.seedId))
    .where(
      and(
        eq(seedParticipants.workspaceId, sql.placeholder('workspaceId')),
        eq(seedParticipants.userId, userId),
        // Every change sets it: seeds without one are not looked up in the events.
        gt(seeds.updatedAt, since),
        isNotNull(changedAt),
      ),
    )
    .orderBy(desc(changedAt), desc(seeds.id))
    .limit(changedSeedsMax)
    .prepare('seeds_select_changed_by_others')
})

/** The seeds of a workspace that a person has joined and that others changed since a time, the latest first. */
export function listSeedsChangedByOthers(
  executor: Executor,
  { since, ...whose }: { workspaceId: string; userId: string; since: Date },
): Promise<ChangedSeed[]> {
  return selectChangedByOthers(executor).execute({ ...whose, since: since.toISOString() })
}

function containsText(text: string): SQL | undefined {
  return or(
    ...[seeds.title, seeds.summary, seeds.problem].map((column) => contains(sql`lower(${column})`, text)),
  )
}

function hasJoined(joined: boolean): SQL {
  const isParticipation = and(
    eq(seedParticipants.seedId, seeds.id),
    // Of the index by memberships.
    eq(seedParticipants.workspaceId, sql.placeholder('workspaceId')),
    eq(seedParticipants.userId, sql.placeholder('userId')),
  )
  return sql`${sql.raw(joined ? '' : 'not ')}exists (select from ${seedParticipants} where ${isParticipation})`
}

const selectSeed = prepared((executor) =>
  executor
    .select(seedColumns)
    .from(seeds)
    .where(eq(seeds.id, sql.placeholder('seedId')))
    .prepare('seeds_select'),
)

export type SeedRow = NonNullable<Awaited<ReturnType<typeof findSeed>>>

/** A seed as a person sees it. */
export async function findSeed(executor: Executor, input: { seedId: string; userId: string }) {
  const [seed] = await selectSeed(executor).execute(input)
  return seed
}

const selectDetails = prepared((executor) =>
  executor
    .select({ ...seedColumns, createdByName: users.name })
    .from(seeds)
    .leftJoin(users, eq(users.id, seeds.createdByUserId))
    .where(
      and(eq(seeds.id, sql.placeholder('seedId')), eq(seeds.workspaceId, sql.placeholder('workspaceId'))),
    )
    .prepare('seeds_select_details'),
)

/** A seed of a workspace as a person sees it, with the name of its creator; null if the creator is deleted. */
export async function findSeedDetails(
  executor: Executor,
  input: { seedId: string; workspaceId: string; userId: string },
) {
  const [seed] = await selectDetails(executor).execute(input)
  return seed
}

const selectParticipants = prepared((executor) =>
  selectJsonRows(
    executor,
    executor
      .select(
        itemColumns<SeedParticipant>({
          userId: seedParticipants.userId,
          name: users.name,
          image: pictureUrl(users.imageKey),
          joinedAt: seedParticipants.joinedAt,
        }),
      )
      .from(seedParticipants)
      .innerJoin(users, eq(users.id, seedParticipants.userId))
      .where(
        and(
          eq(seedParticipants.seedId, sql.placeholder('seedId')),
          isAfter(seedParticipants.joinedAt, seedParticipants.userId),
        ),
      )
      .orderBy(asc(seedParticipants.joinedAt), asc(seedParticipants.userId))
      .limit(sql.placeholder('limit')),
  ).prepare('seed_participants_select_of_seed'),
)

/** Participants of a seed, in the order in which they joined. */
export function listParticipants(
  executor: Executor,
  input: { seedId: string; pictureUrlPrefix: string } & PageRange,
): Promise<JsonRows> {
  return readOne(selectParticipants(executor).execute({ ...input }))
}

/** The pieces of evidence with one verdict on one day. */
export interface EvidenceCount {
  /** In UTC, as `YYYY-MM-DD`. */
  day: string
  verdict: Verdict
  count: number
}

const selectEvidenceCounts = prepared((executor) => {
  const day = sql<string>`to_char(${evidence.createdAt} at time zone 'UTC', 'YYYY-MM-DD')`
  return executor
    .select({ day: day.as('day'), verdict: evidence.verdict, count: sql<number>`count(*)::int` })
    .from(evidence)
    .where(eq(evidence.seedId, sql.placeholder('seedId')))
    .groupBy(sql`day`, evidence.verdict)
    .orderBy(sql`day`)
    .prepare('evidence_count_by_day')
})

/** The numbers of pieces of evidence of a seed, the earliest day first. */
export function countEvidence(executor: Executor, seedId: string): Promise<EvidenceCount[]> {
  return selectEvidenceCounts(executor).execute({ seedId })
}

const insertIntoSeeds = prepared((executor) =>
  executor.insert(seeds).values(placeholdersOf(seeds)).prepare('seeds_insert'),
)

export async function insertSeed(executor: Executor, row: typeof seeds.$inferSelect): Promise<void> {
  await insertIntoSeeds(executor).execute(row)
}

const lockShared = prepared((executor) => prepareLock(executor, 'share', 'seeds_lock_shared'))
const lockForChange = prepared((executor) => prepareLock(executor, 'no key update', 'seeds_lock'))

function prepareLock(executor: Executor, strength: 'share' | 'no key update', name: string) {
  return executor
    .select({ ...fieldColumns, workspaceId: seeds.workspaceId })
    .from(seeds)
    .where(eq(seeds.id, sql.placeholder('seedId')))
    .for(strength)
    .prepare(name)
}

/**
 * Reads a seed and locks it until the transaction ends. `share`: other transactions may lock it this way too;
 * `no key update`: this transaction is going to change it.
 */
export async function lockSeed(
  executor: Executor,
  seedId: string,
  strength: 'share' | 'no key update',
): Promise<LockedSeed | undefined> {
  const lock = strength === 'share' ? lockShared : lockForChange
  const [seed] = await lock(executor).execute({ seedId })
  return seed
}

export async function updateSeed(
  executor: Executor,
  seedId: string,
  values: Partial<SeedFields> & { updatedAt: Date },
): Promise<void> {
  await executor.update(seeds).set(values).where(eq(seeds.id, seedId))
}

const touch = prepared((executor) =>
  executor
    .update(seeds)
    .set({ updatedAt: sql`${sql.placeholder('at')}::timestamptz` })
    .where(eq(seeds.id, sql.placeholder('seedId')))
    .prepare('seeds_touch'),
)

/** Sets the time of the last change of a seed. */
export async function touchSeed(executor: Executor, seedId: string, at: Date): Promise<void> {
  await touch(executor).execute({ seedId, at: at.toISOString() })
}

const selectLockedParticipant = prepared((executor) =>
  executor
    .select({ userId: seedParticipants.userId })
    .from(seedParticipants)
    .where(
      and(
        eq(seedParticipants.seedId, sql.placeholder('seedId')),
        eq(seedParticipants.userId, sql.placeholder('userId')),
      ),
    )
    .for('key share')
    .prepare('seed_participants_lock'),
)

/** Whether a person has joined a seed. Locks the participation until the transaction ends. */
export async function lockParticipant(executor: Executor, seedId: string, userId: string): Promise<boolean> {
  const rows = await selectLockedParticipant(executor).execute({ seedId, userId })
  return rows.length > 0
}

/**
 * Adds a participant to a seed. Returns whether the person is new. Throws `not_found` for a person who is not a member of
 * the workspace.
 */
export async function insertParticipantIfNew(
  executor: Executor,
  row: typeof seedParticipants.$inferInsert,
): Promise<boolean> {
  try {
    const { rowCount } = await executor.insert(seedParticipants).values(row).onConflictDoNothing()
    return rowCount === 1
  } catch (error) {
    if (isForeignKeyViolation(error, 'seed_participants_membership_fk')) {
      throw errors.notFound({ cause: error })
    }
    throw error
  }
}

/** Removes a participant. Returns whether there was one. */
export async function deleteParticipant(
  executor: Executor,
  seedId: string,
  userId: string,
): Promise<boolean> {
  const { rowCount } = await executor
    .delete(seedParticipants)
    .where(and(eq(seedParticipants.seedId, seedId), eq(seedParticipants.userId, userId)))
  return rowCount === 1
}

const selectEvidence = prepared((executor) => prepareEvidence(executor, { name: 'evidence_select_of_seed' }))
const selectEvidenceBackward = prepared((executor) =>
  prepareEvidence(executor, { name: 'evidence_select_backward', isBackward: true }),
)

/** Without a name, the statement is for one use. */
function prepareEvidence(
  executor: Executor,
  { name = '', filter, isBackward = false }: { name?: string; filter?: SQL; isBackward?: boolean },
) {
  const direction = isBackward ? asc : desc
  const isOfSeed = and(eq(evidence.seedId, sql.placeholder('seedId')), filter)
  const placed = placeRows(executor, evidence, evidenceBytes, isOfSeed, { isBackward })
  const rows = executor
    .select(itemColumns<Evidence>(getTableColumns(evidence)))
    .from(placed)
    .innerJoin(evidence, eq(evidence.id, placed.id))
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(direction(evidence.createdAt), direction(evidence.id))
  return selectJsonRows(executor, rows).prepare(name)
}

/** Evidence of a seed, newest first; no more than `pageBytesMax`. `isBackward`: before a position, the nearest first. */
export function listEvidence(
  executor: Executor,
  {
    by,
    isBackward = false,
    ...values
  }: { seedId: string; by?: EvidenceAuthors; isBackward?: boolean } & PageRange,
): Promise<JsonRows> {
  if (by !== undefined) {
    const filter = by === 'agents' ? isNotNull(evidence.agentName) : isNull(evidence.agentName)
    return readOne(prepareEvidence(executor, { filter, isBackward }).execute(values))
  }
  const select = isBackward ? selectEvidenceBackward : selectEvidence
  return readOne(select(executor).execute(values))
}

const insertIntoEvidence = prepared((executor) =>
  executor.insert(evidence).values(placeholdersOf(evidence)).prepare('evidence_insert'),
)

export async function insertEvidence(executor: Executor, row: typeof evidence.$inferSelect): Promise<void> {
  await insertIntoEvidence(executor).execute(row)
}

/** Changes the author's name on all their evidence. Returns the names that it replaced. */
export async function renameAuthor(executor: Executor, userId: string, name: string): Promise<string[]> {
  const isAuthor = eq(evidence.authorUserId, userId)
  const names = await executor.selectDistinct({ name: evidence.authorName }).from(evidence).where(isAuthor)
  await executor.update(evidence).set({ authorName: name }).where(isAuthor)
  return names.map((row) => row.name)
}

/**
 * Deletes the example seeds of the first run, with their evidence and participants. A seed whose title no longer starts
 * with `titlePrefix` was edited by a person, and stays.
 */
export async function deleteExampleSeeds(
  executor: Executor,
  titlePrefix: string,
): Promise<{ id: string; title: string; workspaceId: string }[]> {
  return executor
    .delete(seeds)
    .where(
      and(
        like(seeds.title, `${titlePrefix}%`),
        sql`exists (select from ${events} where ${and(
          eq(events.workspaceId, seeds.workspaceId),
          eq(events.type, 'seed.created'),
          eq(events.targetId, seeds.id),
          // Seeds of people have the source `web` or `api`.
          eq(events.source, 'system'),
        )})`,
      ),
    )
    .returning({ id: seeds.id, title: seeds.title, workspaceId: seeds.workspaceId })
}
