import { and, asc, desc, eq, gte, inArray, isNotNull, isNull, lt, ne, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Executor } from '../../../db/client.ts'
import { isUniqueViolation } from '../../../db/errors.ts'
import { events } from '../../../db/schema/events.ts'
import { seedImports, seedImportSlices } from '../../../db/schema/seed-imports.ts'
import { seeds } from '../../../db/schema/seeds.ts'
import { users } from '../../../db/schema/users.ts'
import { workspaces } from '../../../db/schema/workspaces.ts'
import { subquery } from '../../../db/schema/subquery.ts'
import { shownImportStates, type RowFault, type SeedImportState } from '../../../domain/seed-imports.ts'
import type { PrincipalUser } from '../../../domain/principal.ts'
import { errors } from '../../../kernel/errors.ts'
import { isInUse } from '../seed-deletion.repository.ts'
import type { TableSeed } from './seed-columns.ts'

/** An import that begins. */
export interface NewImport {
  id: string
  workspaceId: string
  createdByUserId: string
  createdAt: Date
  total: number
  faultyCount: number
  faults: RowFault[]
}

/**
 * Inserts an import that begins, or lets a draft begin, whose table is gone then. Throws `import_in_progress` while another
 * one of the workspace is being made or undone.
 */
export async function insertImport(executor: Executor, row: NewImport): Promise<void> {
  const running = { ...row, state: 'running' as const, content: null }
  await refuseSecond(
    executor
      .insert(seedImports)
      .values(running)
      .onConflictDoUpdate({ target: seedImports.id, set: running })
      .then(),
  )
}

async function refuseSecond<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write
  } catch (error) {
    if (isUniqueViolation(error, 'seed_imports_in_progress_key'))
      throw errors.importInProgress({ cause: error })
    throw error
  }
}

/** Inserts the slices of an import. */
export async function insertSlices(
  executor: Executor,
  importId: string,
  slices: readonly TableSeed[][],
): Promise<void> {
  await executor.insert(seedImportSlices).values(slices.map((rows, number) => ({ importId, number, rows })))
}

/** Keeps the table of a draft; an earlier draft of the same person in the workspace is gone then. */
export async function insertDraft(
  executor: Executor,
  draft: { id: string; workspaceId: string; createdByUserId: string; createdAt: Date; content: string },
): Promise<void> {
  const { workspaceId, createdByUserId } = draft
  const isEarlier = and(
    eq(seedImports.workspaceId, workspaceId),
    eq(seedImports.createdByUserId, createdByUserId),
    eq(seedImports.state, 'draft'),
  )
  await executor.delete(seedImports).where(isEarlier)
  await executor.insert(seedImports).values({ ...draft, state: 'draft' })
}

/** The table of a draft of a person. */
export async function findDraft(
  executor: Executor,
  { importId, workspaceId, userId }: { importId: string; workspaceId: string; userId: string },
): Promise<{ content: string; mapping: Record<string, string> | null } | undefined> {
  const [draft] = await executor
    .select({ content: seedImports.content, mapping: seedImports.mapping })
    .from(seedImports)
    .where(
      and(
        eq(seedImports.id, importId),
        eq(seedImports.workspaceId, workspaceId),
        eq(seedImports.createdByUserId, userId),
        eq(seedImports.state, 'draft'),
      ),
    )
  return draft && { content: draft.content ?? '', mapping: draft.mapping }
}

/** Keeps which field each column of a draft is. */
export async function setMapping(
  executor: Executor,
  importId: string,
  mapping: Record<string, string>,
): Promise<void> {
  await executor
    .update(seedImports)
    .set({ mapping })
    .where(and(eq(seedImports.id, importId), eq(seedImports.state, 'draft')))
}

const importColumns = {
  id: seedImports.id,
  workspaceId: seedImports.workspaceId,
  state: seedImports.state,
  total: seedImports.total,
  done: seedImports.done,
  faultyCount: seedImports.faultyCount,
  faults: seedImports.faults,
  createdByUserId: seedImports.createdByUserId,
  createdByName: users.name,
  createdAt: seedImports.createdAt,
  finishedAt: seedImports.finishedAt,
  keptCount: seedImports.keptCount,
  removedCount: seedImports.removedCount,
}

/** An import that has begun. */
export type ImportRow = Awaited<ReturnType<typeof listImports>>[number]

const isShown = inArray(seedImports.state, [...shownImportStates])

/** The newest imports of a workspace since a time. */
export async function listImports(
  executor: Executor,
  { workspaceId, since, limit }: { workspaceId: string; since: Date; limit: number },
) {
  return executor
    .select(importColumns)
    .from(seedImports)
    .leftJoin(users, eq(users.id, seedImports.createdByUserId))
    .where(and(eq(seedImports.workspaceId, workspaceId), isShown, gte(seedImports.createdAt, since)))
    .orderBy(desc(seedImports.createdAt), desc(seedImports.id))
    .limit(limit)
}

/** An import of a workspace that has begun. */
export async function findImport(
  executor: Executor,
  { importId, workspaceId }: { importId: string; workspaceId: string },
): Promise<ImportRow | undefined> {
  const [found] = await executor
    .select(importColumns)
    .from(seedImports)
    .leftJoin(users, eq(users.id, seedImports.createdByUserId))
    .where(and(eq(seedImports.id, importId), eq(seedImports.workspaceId, workspaceId), isShown))
  return found
}

/** An import that is locked until the transaction ends. */
export interface LockedImport {
  id: string
  workspaceId: string
  state: SeedImportState
  createdByUserId: string | null
  createdAt: Date
}

/** Locks an import of a workspace that has begun. */
export async function lockImport(
  executor: Executor,
  { importId, workspaceId }: { importId: string; workspaceId: string },
): Promise<LockedImport | undefined> {
  const { id, state, createdByUserId, createdAt } = seedImports
  const [found] = await executor
    .select({ id, workspaceId: seedImports.workspaceId, state, createdByUserId, createdAt })
    .from(seedImports)
    .where(and(eq(id, importId), eq(seedImports.workspaceId, workspaceId), isShown))
    .for('no key update')
  return found
}

/** Sets how far an import is. Throws `import_in_progress` when it begins to be undone while another one is in progress. */
export async function updateImport(
  executor: Executor,
  importId: string,
  values: Partial<
    Pick<
      typeof seedImports.$inferInsert,
      'state' | 'finishedAt' | 'undoneByUserId' | 'keptCount' | 'removedCount'
    >
  >,
): Promise<void> {
  await refuseSecond(executor.update(seedImports).set(values).where(eq(seedImports.id, importId)).then())
}

const workers = alias(users, 'workers')

/** Who makes an import, or undoes it, and where. */
export interface ImportWork {
  workspaceId: string
  state: SeedImportState
  isWorkspaceDeleted: boolean
  /** Null if the account was deleted. */
  user: (PrincipalUser & { kind: 'person' | 'service' }) | null
}

/** What is to be done of an import. */
export async function findWork(executor: Executor, importId: string): Promise<ImportWork | undefined> {
  const { id, name, email, emailVerifiedAt, imageKey, kind } = workers
  const [work] = await executor
    .select({
      workspaceId: seedImports.workspaceId,
      state: seedImports.state,
      isWorkspaceDeleted: sql<boolean>`${workspaces.deletedAt} is not null`,
      user: { id, name, email, emailVerifiedAt, imageKey, kind },
    })
    .from(seedImports)
    .innerJoin(workspaces, eq(workspaces.id, seedImports.workspaceId))
    .leftJoin(
      workers,
      sql`${id} = case ${seedImports.state} when 'undoing' then ${seedImports.undoneByUserId} else ${seedImports.createdByUserId} end`,
    )
    .where(eq(seedImports.id, importId))
  return work
}

/** The next slice of an import whose seeds are not created yet, or, with `undoing`, not deleted yet. */
export async function findNextSlice(
  executor: Executor,
  importId: string,
  work: 'running' | 'undoing',
): Promise<{ number: number; rows: TableSeed[]; seedIds: string[] } | undefined> {
  const isNext = work === 'running' ? isNotNull(seedImportSlices.rows) : eq(seedImportSlices.isUndone, false)
  const [slice] = await executor
    .select({
      number: seedImportSlices.number,
      rows: seedImportSlices.rows,
      seedIds: seedImportSlices.seedIds,
    })
    .from(seedImportSlices)
    .where(and(eq(seedImportSlices.importId, importId), isNext))
    .orderBy(asc(seedImportSlices.number))
    .limit(1)
  return slice && { ...slice, rows: (slice.rows ?? []) as TableSeed[] }
}

const isSlice = (importId: string, number: number) =>
  and(eq(seedImportSlices.importId, importId), eq(seedImportSlices.number, number))

/** Notes that the seeds of a slice were created: its rows are gone then. */
export async function finishSlice(
  executor: Executor,
  { importId, number, seedIds }: { importId: string; number: number; seedIds: string[] },
): Promise<void> {
  await executor.update(seedImportSlices).set({ rows: null, seedIds }).where(isSlice(importId, number))
  await executor
    .update(seedImports)
    .set({ done: sql`${seedImports.done} + ${seedIds.length}` })
    .where(eq(seedImports.id, importId))
}

/** Forgets the rows of an import that stopped. */
export async function dropRows(executor: Executor, importId: string): Promise<void> {
  await executor
    .update(seedImportSlices)
    .set({ rows: null })
    .where(and(eq(seedImportSlices.importId, importId), isNotNull(seedImportSlices.rows)))
}

/** Whether anybody but who imported a seed has added to it or changed it, or it is part of a merge. */
const isKept = sql<boolean>`(${or(
  isInUse,
  isNotNull(seeds.mergedIntoSeedId),
  subquery(sql`exists (select from seeds as merged where merged.merged_into_seed_id = ${seeds.id})`),
  subquery(
    sql`exists (select from ${events} where ${and(
      eq(events.workspaceId, seeds.workspaceId),
      eq(events.seedId, seeds.id),
      sql`${events.actorUserId} is distinct from ${seeds.createdByUserId}`,
    )})`,
  ),
)})`

/** How many seeds of an import undoing it would keep. */
export async function countKept(executor: Executor, importId: string): Promise<number> {
  const ofImport = executor
    .select({ id: sql`unnest(${seedImportSlices.seedIds})` })
    .from(seedImportSlices)
    .where(eq(seedImportSlices.importId, importId))
  const [counted] = await executor
    .select({ count: sql<number>`count(*)::int` })
    .from(seeds)
    .where(
      and(
        sql`${seeds.id} in ${ofImport}`,
        or(isNull(seeds.deletedAt), isNotNull(seeds.mergedIntoSeedId)),
        isKept,
      ),
    )
  return counted?.count ?? 0
}

/**
 * Deletes those of some imported seeds that nobody else has added to. They are locked first, so that nobody can do so
 * meanwhile. Returns them, and how many stay.
 */
export async function removeImportedSeeds(
  executor: Executor,
  { seedIds, now }: { seedIds: readonly string[]; now: Date },
): Promise<{ removed: { id: string; title: string }[]; keptCount: number }> {
  if (seedIds.length === 0) return { removed: [], keptCount: 0 }
  await executor
    .select({ id: seeds.id })
    .from(seeds)
    .where(inArray(seeds.id, [...seedIds]))
    .orderBy(asc(seeds.id))
    .for('no key update')
  const found = await executor
    .select({ id: seeds.id, title: seeds.title, isKept })
    .from(seeds)
    .where(
      and(inArray(seeds.id, [...seedIds]), or(isNull(seeds.deletedAt), isNotNull(seeds.mergedIntoSeedId))),
    )
    .orderBy(asc(seeds.id))
  const removed = found.filter((seed) => !seed.isKept)
  if (removed.length > 0)
    await executor
      .update(seeds)
      .set({ deletedAt: now, updatedAt: now })
      .where(
        inArray(
          seeds.id,
          removed.map(({ id }) => id),
        ),
      )
  return { removed, keptCount: found.length - removed.length }
}

/** Notes that a slice was undone. */
export async function finishUndoing(
  executor: Executor,
  counts: { importId: string; number: number; removedCount: number; keptCount: number },
): Promise<void> {
  const { importId, number, removedCount, keptCount } = counts
  await executor.update(seedImportSlices).set({ isUndone: true }).where(isSlice(importId, number))
  await executor
    .update(seedImports)
    .set({
      removedCount: sql`coalesce(${seedImports.removedCount}, 0) + ${removedCount}`,
      keptCount: sql`coalesce(${seedImports.keptCount}, 0) + ${keptCount}`,
    })
    .where(eq(seedImports.id, importId))
}

/** Deletes the drafts from before a time, and what is known of imports from before another one. */
export async function deleteOldImports(
  executor: Executor,
  { draftsBefore, before }: { draftsBefore: Date; before: Date },
): Promise<void> {
  const isOldDraft = and(eq(seedImports.state, 'draft'), lt(seedImports.createdAt, draftsBefore))
  const isOld = and(ne(seedImports.state, 'running'), lt(seedImports.createdAt, before))
  await executor.delete(seedImports).where(or(isOldDraft, isOld))
}

/** Deletes the tables of a person that no import has begun with. */
export async function deleteDraftsOf(executor: Executor, userId: string): Promise<void> {
  await executor
    .delete(seedImports)
    .where(and(eq(seedImports.createdByUserId, userId), eq(seedImports.state, 'draft')))
}
