import { and, desc, eq, like, lt, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { isForeignKeyViolation } from '../../db/errors.ts'
import { prepared } from '../../db/prepared.ts'
import { bytesBefore, evidenceBytes, seedBytes } from '../../db/text-bytes.ts'
import { events } from '../../db/schema/events.ts'
import { evidence, seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { pageBytesMax, type Position } from '../../kernel/pagination.ts'
import type { EvidenceKind, SeedStatus, Verdict } from '../../kernel/seeds.ts'

/** What people write of a seed, and where it stands. */
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

/** A seed, as one person sees it. */
export interface SeedRow extends SeedFields {
  id: string
  createdByUserId: string | null
  participantCount: number
  /** Whether the person is in it. */
  joined: boolean
  createdAt: Date
  updatedAt: Date
}

export interface EvidenceRow {
  id: string
  seedId: string
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  sourceUrl: string | null
  authorUserId: string | null
  authorName: string
  createdAt: Date
}

const end: Position = ['infinity', 'ffffffff-ffff-ffff-ffff-ffffffffffff']

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
  participantCount: sql<number>`(
    select count(*)::int from ${seedParticipants} where ${seedParticipants.seedId} = ${seeds.id}
  )`,
  joined: sql<boolean>`exists (
    select from ${seedParticipants}
    where ${seedParticipants.seedId} = ${seeds.id} and ${seedParticipants.userId} = ${sql.placeholder('userId')}
  )`,
  createdAt: seeds.createdAt,
  updatedAt: seeds.updatedAt,
}

const selectSeeds = prepared((executor) => prepareSeeds(executor, 'seeds_select_of_workspace'))
const selectSeedsOfStatus = prepared((executor) =>
  prepareSeeds(executor, 'seeds_select_of_status', eq(seeds.status, sql.placeholder('status'))),
)

function prepareSeeds(executor: Executor, name: string, filter?: SQL) {
  const page = executor
    .select({
      id: seeds.id,
      createdAt: seeds.createdAt,
      size: seedBytes.as('seed_size'),
    })
    .from(seeds)
    .where(
      and(
        eq(seeds.workspaceId, sql.placeholder('workspaceId')),
        filter,
        sql`(${seeds.createdAt}, ${seeds.id}) < (${sql.placeholder('createdAt')}::timestamptz, ${sql.placeholder('id')}::uuid)`,
      ),
    )
    .orderBy(desc(seeds.createdAt), desc(seeds.id))
    .limit(sql.placeholder('limit'))
    .as('page')
  const order = sql`${page.createdAt} desc, ${page.id} desc`
  const placed = executor
    .select({ id: page.id, bytesBefore: bytesBefore(page.size, order).as('seeds_before') })
    .from(page)
    .as('placed')
  return executor
    .select(seedColumns)
    .from(placed)
    .innerJoin(seeds, eq(seeds.id, placed.id))
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(desc(seeds.createdAt), desc(seeds.id))
    .prepare(name)
}

/** Seeds of a workspace, newest first, from before a position on, as a person sees them; no more than a page can show. */
export function listSeeds(
  executor: Executor,
  input: {
    workspaceId: string
    userId: string
    status: SeedStatus | undefined
    before: Position | undefined
    limit: number
  },
): Promise<SeedRow[]> {
  const { before, status, ...rest } = input
  const [createdAt, id] = before ?? end
  return status === undefined
    ? selectSeeds(executor).execute({ ...rest, createdAt, id })
    : selectSeedsOfStatus(executor).execute({ ...rest, status, createdAt, id })
}

const selectSeed = prepared((executor) =>
  executor
    .select(seedColumns)
    .from(seeds)
    .where(eq(seeds.id, sql.placeholder('seedId')))
    .prepare('seeds_select'),
)

/** A seed as a person sees it. */
export async function findSeed(
  executor: Executor,
  input: { seedId: string; userId: string },
): Promise<SeedRow | undefined> {
  const [seed] = await selectSeed(executor).execute(input)
  return seed
}

export async function insertSeed(executor: Executor, row: typeof seeds.$inferInsert): Promise<void> {
  await executor.insert(seeds).values(row)
}

/**
 * What is written of a seed, kept as it is until the transaction ends. `share`: others may look and keep it as well;
 * `no key update`: the transaction is about to change it.
 */
export async function lockSeed(
  executor: Executor,
  seedId: string,
  strength: 'share' | 'no key update',
): Promise<LockedSeed | undefined> {
  const [seed] = await executor
    .select({ ...fieldColumns, workspaceId: seeds.workspaceId })
    .from(seeds)
    .where(eq(seeds.id, seedId))
    .for(strength)
  return seed
}

export async function updateSeed(
  executor: Executor,
  seedId: string,
  values: Partial<SeedFields> & { updatedAt: Date },
): Promise<void> {
  await executor.update(seeds).set(values).where(eq(seeds.id, seedId))
}

/** Whether somebody is in a seed; if so, they stay until the transaction ends. */
export async function lockParticipant(executor: Executor, seedId: string, userId: string): Promise<boolean> {
  const rows = await executor
    .select({ userId: seedParticipants.userId })
    .from(seedParticipants)
    .where(and(eq(seedParticipants.seedId, seedId), eq(seedParticipants.userId, userId)))
    .for('key share')
  return rows.length > 0
}

/**
 * Adds somebody to a seed, unless they are in it. Returns whether they were added. Throws `not_found` for somebody who is
 * not, or no longer, in the workspace.
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

/** Returns whether the person was in the seed. */
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
  const page = executor
    .select({
      id: evidence.id,
      createdAt: evidence.createdAt,
      size: evidenceBytes.as('evidence_size'),
    })
    .from(evidence)
    .where(
      and(
        eq(evidence.seedId, sql.placeholder('seedId')),
        sql`(${evidence.createdAt}, ${evidence.id}) < (${sql.placeholder('createdAt')}::timestamptz, ${sql.placeholder('id')}::uuid)`,
      ),
    )
    .orderBy(desc(evidence.createdAt), desc(evidence.id))
    .limit(sql.placeholder('limit'))
    .as('page')
  const order = sql`${page.createdAt} desc, ${page.id} desc`
  const placed = executor
    .select({ id: page.id, bytesBefore: bytesBefore(page.size, order).as('evidence_before') })
    .from(page)
    .as('placed')
  return executor
    .select({
      id: evidence.id,
      seedId: evidence.seedId,
      kind: evidence.kind,
      verdict: evidence.verdict,
      summary: evidence.summary,
      sourceUrl: evidence.sourceUrl,
      authorUserId: evidence.authorUserId,
      authorName: evidence.authorName,
      createdAt: evidence.createdAt,
    })
    .from(placed)
    .innerJoin(evidence, eq(evidence.id, placed.id))
    .where(lt(placed.bytesBefore, pageBytesMax))
    .orderBy(desc(evidence.createdAt), desc(evidence.id))
    .prepare('evidence_select_of_seed')
})

/** Evidence of a seed, newest first, from before a position on; no more than a page can show. */
export function listEvidence(
  executor: Executor,
  input: { seedId: string; before: Position | undefined; limit: number },
): Promise<EvidenceRow[]> {
  const { seedId, before, limit } = input
  const [createdAt, id] = before ?? end
  return selectEvidence(executor).execute({ seedId, createdAt, id, limit })
}

export async function insertEvidence(executor: Executor, row: typeof evidence.$inferInsert): Promise<void> {
  await executor.insert(evidence).values(row)
}

/** Puts another name to the evidence of an author. Returns the names that it had. */
export async function renameAuthor(executor: Executor, userId: string, name: string): Promise<string[]> {
  const isAuthor = eq(evidence.authorUserId, userId)
  const names = await executor.selectDistinct({ name: evidence.authorName }).from(evidence).where(isAuthor)
  await executor.update(evidence).set({ authorName: name }).where(isAuthor)
  return names.map((row) => row.name)
}

/**
 * Deletes the seeds that the first run made as examples, with their evidence and participants. One that was given
 * another title than `titlePrefix` begins is somebody's own by now, and stays.
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
          // People create seeds on the website and by the API.
          eq(events.source, 'system'),
        )})`,
      ),
    )
    .returning({ id: seeds.id, title: seeds.title, workspaceId: seeds.workspaceId })
}
