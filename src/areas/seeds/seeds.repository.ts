import { and, desc, eq, getTableColumns, like, lt, sql, type Column, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isForeignKeyViolation } from '../../db/errors.ts'
import { itemColumns, readOne, selectJsonRows } from '../../db/json-rows.ts'
import { isBefore } from '../../db/keyset.ts'
import { placeholdersOf, prepared } from '../../db/prepared.ts'
import { bytesBefore, evidenceBytes, seedBytes } from '../../db/text-bytes.ts'
import { events } from '../../db/schema/events.ts'
import { evidence, seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { pageBytesMax, type JsonRows, type PageRange } from '../../kernel/pagination.ts'
import type { SeedStatus } from '../../kernel/seeds.ts'
import type { Evidence, Seed } from './seeds.schemas.ts'

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

const selectSeeds = prepared((executor) => prepareSeeds(executor, 'seeds_select_of_workspace'))
const selectSeedsOfStatus = prepared((executor) =>
  prepareSeeds(executor, 'seeds_select_of_status', eq(seeds.status, sql.placeholder('status'))),
)

function prepareSeeds(executor: Executor, name: string, filter?: SQL) {
  const isInWorkspace = eq(seeds.workspaceId, sql.placeholder('workspaceId'))
  const placed = placeRows(executor, seeds, seedBytes, and(isInWorkspace, filter))
  const rows = executor
    .select(itemColumns<Seed>(seedColumns))
    .from(placed)
    .innerJoin(seeds, eq(seeds.id, placed.id))
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(desc(seeds.createdAt), desc(seeds.id))
  return selectJsonRows(executor, rows).prepare(name)
}

/** The ids of the rows of a page, newest first, each with the total bytes of the texts of the rows before it. */
function placeRows(
  executor: Executor,
  table: typeof seeds | typeof evidence,
  bytes: SQL<number>,
  filter: SQL | undefined,
) {
  const page = executor
    .select({ id: table.id, createdAt: table.createdAt, size: bytes.as('row_size') })
    .from(table as typeof seeds)
    .where(and(filter, isBefore(table.createdAt, table.id)))
    .orderBy(desc(table.createdAt), desc(table.id))
    .limit(sql.placeholder('limit'))
    .as('page')
  const order = sql`${page.createdAt} desc, ${page.id} desc`
  return executor
    .select({ id: page.id, bytesBefore: bytesBefore(page.size, order).as('bytes_before') })
    .from(page)
    .as('placed')
}

/** Seeds of a workspace as a person sees them, newest first; no more than `pageBytesMax`. */
export function listSeeds(
  executor: Executor,
  { status, ...rest }: { workspaceId: string; userId: string; status: SeedStatus | undefined } & PageRange,
): Promise<JsonRows> {
  return readOne(
    status === undefined
      ? selectSeeds(executor).execute(rest)
      : selectSeedsOfStatus(executor).execute({ ...rest, status }),
  )
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

const selectEvidence = prepared((executor) => {
  const isOfSeed = eq(evidence.seedId, sql.placeholder('seedId'))
  const placed = placeRows(executor, evidence, evidenceBytes, isOfSeed)
  const rows = executor
    .select(itemColumns<Evidence>(getTableColumns(evidence)))
    .from(placed)
    .innerJoin(evidence, eq(evidence.id, placed.id))
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(desc(evidence.createdAt), desc(evidence.id))
  return selectJsonRows(executor, rows).prepare('evidence_select_of_seed')
})

/** Evidence of a seed, newest first; no more than `pageBytesMax`. */
export function listEvidence(executor: Executor, input: { seedId: string } & PageRange): Promise<JsonRows> {
  return readOne(selectEvidence(executor).execute({ ...input }))
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
