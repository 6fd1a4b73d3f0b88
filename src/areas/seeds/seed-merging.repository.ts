import { and, desc, eq, inArray, isNotNull, lt, sql, type SQL } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter } from '../../db/sql/hidden-parameter.ts'
import type { SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { comments } from '../../db/schema/comments.ts'
import { notifications } from '../../db/schema/notifications.ts'
import { seedMoves, type movedKinds } from '../../db/schema/seed-moves.ts'
import { evidence, seedFollowers, seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'

/** A seed that is merged, or that another one is merged into. */
export interface MergeableSeed {
  id: string
  title: string
  leadUserId: string | null
  deletedAt: Date | null
  mergedIntoSeedId: string | null
  mergedAt: Date | null
}

const seedId = sql`${sql.placeholder('seedId')}::uuid`
const intoSeedId = sql`${sql.placeholder('intoSeedId')}::uuid`

const mergeableColumns = {
  id: seeds.id,
  title: seeds.title,
  leadUserId: seeds.leadUserId,
  deletedAt: seeds.deletedAt,
  mergedIntoSeedId: seeds.mergedIntoSeedId,
  mergedAt: seeds.mergedAt,
}

function prepareLock(executor: Executor, other: SQL, name: string) {
  return (
    executor
      .select(mergeableColumns)
      .from(seeds)
      .where(
        and(
          sql`${seeds.id} in (${seedId}, ${other})`,
          eq(seeds.workspaceId, hiddenParameter('workspaceId', 'uuid')),
        ),
      )
      // In one order, so that two merges do not wait for each other.
      .orderBy(seeds.id)
      .for('no key update')
      .prepare(name)
  )
}

const lockPair = prepared((executor) => prepareLock(executor, intoSeedId, 'seeds_lock_pair'))

const mergedInto = sql`(select source.merged_into_seed_id from ${seeds} as source where source.id = ${seedId})`
const lockMergedPair = prepared((executor) => prepareLock(executor, mergedInto, 'seeds_lock_merged_pair'))

/**
 * Locks a seed and another one of the workspace, also deleted and merged ones, until the transaction ends. Without
 * `intoSeedId`, the other one is that which it was merged into.
 */
export async function lockSeedPair(
  executor: Executor,
  { intoSeedId: into, ...values }: { seedId: string; workspaceId: string; intoSeedId?: string },
): Promise<{ seed: MergeableSeed | undefined; other: MergeableSeed | undefined }> {
  const rows: MergeableSeed[] =
    into === undefined
      ? await lockMergedPair(executor).execute(values)
      : await lockPair(executor).execute({ ...values, intoSeedId: into })
  const seed = rows.find(({ id }) => id === values.seedId)
  return { seed, other: rows.find(({ id }) => id !== values.seedId) }
}

/** What moves with a merge, and how many of each. */
export type Moved = Record<Exclude<(typeof movedKinds)[number], 'webhook'>, number>

/** Two seeds: what is moved out of the first, into the second. */
interface SeedPair {
  seedId: string
  intoSeedId: string
}

// Merges are rare: the statements are not prepared.

/**
 * Moves everything that belongs to a seed to another one, and notes what it was, so that `moveBack` moves just this. Both
 * are locked. Who takes part in both, or follows both, stays as they are in both: only one of them is seen.
 */
export async function moveParts(executor: Executor, pair: SeedPair): Promise<Moved> {
  const { seedId: from, intoSeedId: into } = pair
  const isOther = (table: PgTable) =>
    sql`not exists (select from ${table} as other where other.seed_id = ${into} and other.user_id = moving.user_id)`
  return {
    evidence: await moveEvidence(executor, pair),
    comment: await note(executor, from, 'comment', {
      moving: sql`update ${comments} set seed_id = ${into} where seed_id = ${from} returning id`,
    }),
    participant: await note(executor, from, 'participant', {
      moving: sql`update ${seedParticipants} as moving set seed_id = ${into}
        where seed_id = ${from} and ${isOther(seedParticipants)} returning user_id`,
    }),
    follower: await note(executor, from, 'follower', {
      moving: sql`update ${seedFollowers} as moving set seed_id = ${into}
        where seed_id = ${from} and ${isOther(seedFollowers)} returning user_id`,
    }),
    notification: await note(executor, from, 'notification', {
      // Its id is the same for all who are told of the same.
      moving: sql`update ${notifications} set seed_id = ${into} where seed_id = ${from} returning id`,
    }),
  }
}

/**
 * Moves all evidence of a seed, also withdrawn one, to another, whose success criteria are others: those that it spoke to are
 * noted with it. Nothing else moves evidence there.
 */
async function moveEvidence(
  executor: Executor,
  { seedId: from, intoSeedId: into }: SeedPair,
): Promise<number> {
  const { rowCount } = await executor.execute(sql`
    with moved (part_id, criterion_ids) as (
      update ${evidence} as moving set seed_id = ${into}, criterion_ids = '{}'
      from (select id, criterion_ids from ${evidence} where seed_id = ${from}) as former
      where moving.id = former.id returning moving.id, former.criterion_ids
    )
    insert into ${seedMoves} (seed_id, kind, part_id, criterion_ids)
    select ${from}::uuid, 'evidence', part_id, criterion_ids from moved`)
  return rowCount ?? 0
}

/** Moves rows by a statement that returns their ids, and notes them. Returns how many there are. */
async function note(
  executor: Executor,
  from: string,
  kind: keyof Moved,
  { moving }: { moving: SQL },
): Promise<number> {
  const { rowCount } = await executor.execute(sql`
    with moved (part_id) as (${moving})
    insert into ${seedMoves} (seed_id, kind, part_id) select distinct ${from}::uuid, ${kind}::text, part_id from moved`)
  return rowCount ?? 0
}

/**
 * Moves what was moved out of a merged seed back to it, as far as it is still in the other one. Comments on evidence go with
 * it, whenever they were written, and what people were told of a comment goes with that. Who leads the other seed stays a
 * participant of it too. Both are locked.
 */
export async function moveBack(
  executor: Executor,
  { seedId: to, intoSeedId: from }: SeedPair,
): Promise<Moved> {
  const noted = (kind: keyof Moved) =>
    sql`(select part_id from ${seedMoves} where ${seedMoves.seedId} = ${to} and ${seedMoves.kind} = ${kind})`
  const run = async (statement: SQL) => (await executor.execute(statement)).rowCount ?? 0
  const evidenceCount = await run(sql`
    update ${evidence} as moving set seed_id = ${to}, criterion_ids = coalesce(note.criterion_ids, '{}')
    from ${seedMoves} as note
    where moving.seed_id = ${from} and note.seed_id = ${to} and note.kind = 'evidence' and note.part_id = moving.id`)
  const commentCount = await run(sql`
    update ${comments} set seed_id = ${to}
    where seed_id = ${from} and (id in ${noted('comment')} or evidence_id in ${noted('evidence')})`)
  const participantCount = await run(sql`
    insert into ${seedParticipants} (seed_id, user_id, workspace_id, joined_at)
    select ${to}::uuid, user_id, workspace_id, joined_at from ${seedParticipants}
    where seed_id = ${from} and user_id in ${noted('participant')} on conflict do nothing`)
  await run(sql`
    delete from ${seedParticipants} where seed_id = ${from} and user_id in ${noted('participant')}
      and user_id is distinct from (select lead_user_id from ${seeds} where id = ${from})`)
  const followerCount = await run(sql`
    update ${seedFollowers} set seed_id = ${to} where seed_id = ${from} and user_id in ${noted('follower')}`)
  const notificationCount = await run(sql`
    update ${notifications} set seed_id = ${to} where seed_id = ${from} and (id in ${noted('notification')}
      or comment_id in (select id from ${comments} where seed_id = ${to}))`)
  await executor.delete(seedMoves).where(eq(seedMoves.seedId, to))
  return {
    evidence: evidenceCount,
    comment: commentCount,
    participant: participantCount,
    follower: followerCount,
    notification: notificationCount,
  }
}

/** Marks a seed as merged into another one, and that one as changed. */
export async function setMerged(
  executor: Executor,
  { seedId: id, intoSeedId: into }: SeedPair,
  { userId, now }: { userId: string; now: Date },
): Promise<void> {
  const merged = { mergedIntoSeedId: into, mergedAt: now, mergedByUserId: userId }
  await executor
    .update(seeds)
    .set({ ...merged, deletedAt: now, updatedAt: now })
    .where(eq(seeds.id, id))
  await executor.update(seeds).set({ updatedAt: now }).where(eq(seeds.id, into))
}

/** Marks a seed as not merged any more, and the one that it was merged into as changed. A lead who has left it leads it no more. */
export async function setUnmerged(
  executor: Executor,
  { seedId: id, intoSeedId: from }: SeedPair,
  now: Date,
): Promise<void> {
  const isParticipant = subquery(sql`exists (
    select from ${seedParticipants} where ${seedParticipants.seedId} = ${id} and ${seedParticipants.userId} = ${seeds.leadUserId}
  )`)
  const notMerged = { mergedIntoSeedId: null, mergedAt: null, mergedByUserId: null, deletedAt: null }
  await executor
    .update(seeds)
    .set({
      ...notMerged,
      updatedAt: now,
      leadUserId: sql`case when ${isParticipant} then ${seeds.leadUserId} end`,
    })
    .where(eq(seeds.id, id))
  await executor.update(seeds).set({ updatedAt: now }).where(eq(seeds.id, from))
}

/** A seed that was merged into another one. */
export interface MergedSeed {
  id: string
  title: string
  leadUserId: string | null
  mergedAt: Date
  /** Who merged it; null if the account was deleted. */
  mergedByName: string | null
}

/** The most merged seeds that the page of a seed names. */
const mergedShownMax = 20

const selectMergedInto = prepared((executor) =>
  executor
    .select({
      id: seeds.id,
      title: seeds.title,
      leadUserId: seeds.leadUserId,
      mergedAt: sql<Date>`${seeds.mergedAt}`.mapWith(seeds.mergedAt),
      mergedByName: users.name,
    })
    .from(seeds)
    .leftJoin(users, eq(users.id, seeds.mergedByUserId))
    .where(
      and(
        eq(seeds.workspaceId, hiddenParameter('workspaceId', 'uuid')),
        eq(seeds.mergedIntoSeedId, sql.placeholder('seedId')),
      ),
    )
    .orderBy(desc(seeds.mergedAt))
    .limit(sql.raw(String(mergedShownMax)) as unknown as number)
    .prepare('seeds_select_merged_into'),
)

/** The seeds that were merged into one, the last first. */
export function listMergedInto(executor: Executor, seed: SeedKey): Promise<MergedSeed[]> {
  return selectMergedInto(executor).execute({ ...seed })
}

/** Forgets what was moved by merges from before a time, which cannot be undone any more. */
export async function deleteOldMoves(executor: Executor, before: Date): Promise<void> {
  const merged = executor
    .select({ id: seeds.id })
    .from(seeds)
    .where(and(isNotNull(seeds.mergedIntoSeedId), lt(seeds.mergedAt, before)))
  await executor.delete(seedMoves).where(inArray(seedMoves.seedId, merged))
}

/** Forgets that a person was moved as a participant or a follower. */
export async function deleteMovesOfPerson(executor: Executor, userId: string): Promise<void> {
  const { kind, partId } = seedMoves
  await executor.delete(seedMoves).where(and(inArray(kind, ['participant', 'follower']), eq(partId, userId)))
}
