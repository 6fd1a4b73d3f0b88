import { and, eq, gte, isNull, lt, or, sql, type Column, type SQL } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Database, Executor } from '../../db/client.ts'
import { prepareErasure } from '../../db/sql/erasures.ts'
import { isSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { comments } from '../../db/schema/comments.ts'
import { evidence, seedParticipants, seeds } from '../../db/schema/seeds.ts'

export interface DeletableSeed {
  title: string
  createdByUserId: string | null
  /** The agent that created it, by its grant. */
  grantId: string | null
  deletedAt: Date | null
  mergedIntoSeedId: string | null
}

const lock = prepared((executor) =>
  executor
    .select({
      title: seeds.title,
      createdByUserId: seeds.createdByUserId,
      grantId: seeds.grantId,
      deletedAt: seeds.deletedAt,
      mergedIntoSeedId: seeds.mergedIntoSeedId,
    })
    .from(seeds)
    .where(isSeed)
    .for('no key update')
    .prepare('seeds_lock_deletable'),
)

/** Reads a seed that may be deleted, and locks it until the transaction ends. */
export async function lockDeletableSeed(
  executor: Executor,
  key: SeedKey,
): Promise<DeletableSeed | undefined> {
  const [seed] = await lock(executor).execute({ ...key })
  return seed
}

/** Whether others than its creator take part in a seed, or have added evidence or comments, also withdrawn ones. */
export const isInUse = sql<boolean>`(${or(
  exists(seedParticipants, seedParticipants.userId),
  exists(evidence, evidence.authorUserId),
  exists(comments, comments.authorUserId),
)})`

/** Whether a table has a row of a seed that is not of its creator. */
function exists(table: PgTable & { seedId: Column }, userId: Column): SQL {
  return existsWhere(table, sql`${userId} is distinct from ${seeds.createdByUserId}`)
}

/** Whether a table has a row of a seed that a condition holds for. */
function existsWhere(table: PgTable & { seedId: Column }, condition: SQL | undefined): SQL {
  return subquery(sql`exists (select from ${table} where ${and(eq(table.seedId, seeds.id), condition)})`)
}

/** Whether its creator has added evidence or comments to a seed by hand, or comments through another agent. */
const isUsedByHand = sql<boolean>`(${or(
  existsWhere(evidence, isNull(evidence.agentName)),
  existsWhere(comments, sql`${comments.grantId} is distinct from ${seeds.grantId}`),
)})`

const selectUse = prepared((executor) =>
  executor.select({ isInUse, isUsedByHand }).from(seeds).where(isSeed).prepare('seeds_select_use'),
)

/** Whether others than its creator have added to a seed, and whether its creator has by hand. */
export async function findUseOfSeed(
  executor: Executor,
  key: SeedKey,
): Promise<{ isInUse: boolean; isUsedByHand: boolean }> {
  const [seed] = await selectUse(executor).execute({ ...key })
  return seed ?? { isInUse: false, isUsedByHand: false }
}

/** Whether a seed was deleted at or after a time, and its creator, if it is this person, or everybody may restore it. */
export function isRestorable({ since, creatorId }: { since: Date; creatorId?: string }): SQL | undefined {
  return and(
    gte(seeds.deletedAt, since),
    isNull(seeds.mergedIntoSeedId),
    creatorId === undefined ? undefined : and(eq(seeds.createdByUserId, creatorId), sql`not ${isInUse}`),
  )
}

const setDeletion = prepared((executor) =>
  executor
    .update(seeds)
    .set({
      deletedAt: sql`${sql.placeholder('deletedAt')}::timestamptz`,
      updatedAt: sql`${sql.placeholder('now')}::timestamptz`,
    })
    .where(isSeed)
    .prepare('seeds_set_deleted'),
)

/** Marks a seed as deleted, or as not deleted. */
export async function setDeletedAt(
  executor: Executor,
  seed: SeedKey,
  { deletedAt, now }: { deletedAt: Date | null; now: Date },
): Promise<void> {
  await setDeletion(executor).execute({
    ...seed,
    deletedAt: deletedAt?.toISOString() ?? null,
    now: now.toISOString(),
  })
}

/** Erases the seeds that were deleted before a time, with everything that belongs to them, also seeds that were merged into them. */
export async function eraseDeletedSeeds(db: Database, before: Date): Promise<void> {
  // eslint-disable-next-line no-restricted-syntax -- a clean-up has no principal
  await db.transaction(async (tx) => {
    await prepareErasure(tx)
    await tx.delete(seeds).where(and(lt(seeds.deletedAt, before), isNull(seeds.mergedIntoSeedId)))
  })
}
