import { and, eq, inArray, isNull, like, sql, type Column, type SQL } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { isForeignKeyViolation } from '../../db/errors.ts'
import { timestampText } from '../../db/sql/json-rows.ts'
import { attachmentsOfSeed } from '../../db/sql/attachments-of.ts'
import { seedUrl } from '../../db/sql/page-urls.ts'
import { isSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { placeholdersOf, prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { events } from '../../db/schema/events.ts'
import { isKeptOrMerged, seeds } from '../../db/schema/seeds.ts'
import { teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { errors } from '../../kernel/errors.ts'
import type { Criterion } from '../../domain/criteria.ts'
import { closedStatuses, type SeedStatus, type Verdict } from '../../domain/seeds.ts'
import { isFollowing } from './followers.repository.ts'
import { hasJoined } from './participants.repository.ts'
import { isTeamOfSeed, labelIdsOfSeed, labelsOfSeed, teamIdOfSeed } from './seed-sorting.repository.ts'

/** What people write about a seed, and its status. */
export interface SeedFields {
  title: string
  summary: string
  problem: string | null
  audience: string | null
  hypothesis: string | null
  successCriteria: string[]
  /** The same texts, with an id and a state each. */
  criteria: Criterion[]
  status: SeedStatus
  leadUserId: string | null
  question: string | null
  /** A date, as `2026-11-21`. */
  decideBy: string | null
  teamId: string | null
  /** In their order. */
  labelIds: string[]
}

export interface LockedSeed extends SeedFields {
  workspaceId: string
}

const textColumns = {
  title: seeds.title,
  summary: seeds.summary,
  problem: seeds.problem,
  audience: seeds.audience,
  hypothesis: seeds.hypothesis,
  successCriteria: seeds.successCriteria,
  criteria: seeds.criteria,
  status: seeds.status,
  leadUserId: seeds.leadUserId,
  question: seeds.question,
  decideBy: seeds.decideBy,
}

/** The numbers of pieces of evidence of a seed by their verdict, as JSON. */
export const evidenceCountsOf = (
  seed: Record<'supportsCount' | 'contradictsCount' | 'neutralCount', Column>,
) =>
  sql<
    Record<Verdict, number>
  >`json_build_object('supports', ${seed.supportsCount}, 'contradicts', ${seed.contradictsCount}, 'neutral', ${seed.neutralCount})`

/** A value of the last change of the status of a seed, if that decided it; null of a seed that is tested. */
const ofDecision = <Value>(value: Column | SQL<Value>) =>
  sql<Value | null>`case when ${inArray(seeds.status, closedStatuses)} then ${value} end`

/** Why a seed has its status, and who decided it when. */
export const decisionColumns = {
  statusReason: seeds.statusReason,
  decidedAt: ofDecision(timestampText(seeds.statusChangedAt)),
  decidedByUserId: ofDecision<string>(seeds.statusChangedByUserId),
  decidedByName: ofDecision<string>(seeds.statusChangedByName),
}

/** Who created a seed and who leads it, for the joins of `seedColumns`: two look-ups for each seed took 40 % of a page of 100. */
export const seedCreators = alias(users, 'creators')
export const isSeedCreator = eq(seedCreators.id, seeds.createdByUserId)
export const seedLeads = alias(users, 'leads')
export const isSeedLead = eq(seedLeads.id, seeds.leadUserId)

/**
 * A seed as a person sees it: the person is the `userId` of the statement, whose `seedUrlPrefix` makes the URL. Its query
 * joins `seedCreators`, `seedLeads` and `teams`.
 */
export const seedColumns = {
  id: seeds.id,
  workspaceId: seeds.workspaceId,
  url: seedUrl(seeds.id),
  ...textColumns,
  ...decisionColumns,
  createdByUserId: seeds.createdByUserId,
  createdByName: seedCreators.name,
  agentName: seeds.agentName,
  leadName: seedLeads.name,
  teamId: teams.id,
  teamName: teams.name,
  labels: labelsOfSeed,
  participantCount: seeds.participantCount,
  joined: hasJoined(seeds.id),
  following: isFollowing(seeds.id),
  evidenceCounts: evidenceCountsOf(seeds),
  commentCount: seeds.commentCount,
  attachments: attachmentsOfSeed(seeds.id),
  lastEvidenceAt: seeds.lastEvidenceAt,
  lastCommentAt: seeds.lastCommentAt,
  createdAt: seeds.createdAt,
  updatedAt: seeds.updatedAt,
  activityAt: seeds.activityAt,
}

/** Whether a seed is not deleted. */
export const isKept = isNull(seeds.deletedAt)

const selectSeed = prepared((executor) =>
  executor
    .select(seedColumns)
    .from(seeds)
    .leftJoin(seedCreators, isSeedCreator)
    .leftJoin(seedLeads, isSeedLead)
    .leftJoin(teams, isTeamOfSeed)
    .where(and(isSeed, isKept))
    .prepare('seeds_select_of_workspace_by_id'),
)

export type SeedRow = NonNullable<Awaited<ReturnType<typeof findSeed>>>

/** A seed of a workspace as a person sees it. */
export async function findSeed(
  executor: Executor,
  input: SeedKey & { userId: string; seedUrlPrefix: string },
) {
  const [seed] = await selectSeed(executor).execute({ ...input })
  return seed
}

/** The columns that a new seed does not have, and those that triggers write. */
const laterColumns = [
  'remindedFor',
  'deletedAt',
  'mergedIntoSeedId',
  'mergedAt',
  'mergedByUserId',
  'statusChangedAt',
  'statusReason',
  'statusChangedByUserId',
  'statusChangedByName',
  'supportsCount',
  'contradictsCount',
  'neutralCount',
  'commentCount',
  'participantCount',
  'lastEvidenceAt',
  'lastCommentAt',
  'activityAt',
] as const

const insertIntoSeeds = prepared((executor) =>
  executor
    .insert(seeds)
    .values(placeholdersOf(seeds, ...laterColumns))
    .prepare('seeds_insert'),
)

/** Throws `not_a_member` if its lead is not a member of the workspace. */
export async function insertSeed(
  executor: Executor,
  row: Omit<typeof seeds.$inferSelect, (typeof laterColumns)[number]>,
): Promise<void> {
  try {
    await insertIntoSeeds(executor).execute(row)
  } catch (error) {
    if (isForeignKeyViolation(error, 'seeds_lead_fk')) throw errors.notAMember({ cause: error })
    throw error
  }
}

const lockShared = prepared((executor) => prepareLock(executor, 'share', 'seeds_lock_shared'))
const lockForChange = prepared((executor) => prepareLock(executor, 'no key update', 'seeds_lock'))

function prepareLock(executor: Executor, strength: 'share' | 'no key update', name: string) {
  return executor
    .select({
      ...textColumns,
      teamId: teamIdOfSeed,
      labelIds: labelIdsOfSeed,
      workspaceId: seeds.workspaceId,
      mergedIntoSeedId: seeds.mergedIntoSeedId,
    })
    .from(seeds)
    .where(and(isSeed, isKeptOrMerged))
    .for(strength)
    .prepare(name)
}

/**
 * Reads a seed that is not deleted, and locks it until the transaction ends. `share`: other transactions may lock it this way too;
 * `no key update`: this transaction is going to change it. Throws `seed_merged` for one that was merged meanwhile.
 */
export async function lockSeed(
  executor: Executor,
  key: SeedKey,
  strength: 'share' | 'no key update',
): Promise<LockedSeed | undefined> {
  const lock = strength === 'share' ? lockShared : lockForChange
  const [found] = await lock(executor).execute({ ...key })
  if (!found) return undefined
  const { mergedIntoSeedId, ...seed } = found
  assertNotMerged(mergedIntoSeedId)
  return seed
}

/** Throws `seed_merged` for a seed that was merged into another one. */
export function assertNotMerged(mergedIntoSeedId: string | null): void {
  if (mergedIntoSeedId !== null)
    throw errors.seedMerged({ addition: `It is now the seed ${mergedIntoSeedId}.` })
}

/** The last change of the status of a seed. */
export interface StatusChange {
  statusChangedAt: Date
  statusReason: string | null
  statusChangedByUserId: string
  statusChangedByName: string
}

export async function updateSeed(
  executor: Executor,
  { workspaceId, seedId }: SeedKey,
  values: Partial<SeedFields> & Partial<StatusChange> & { updatedAt: Date },
): Promise<void> {
  await executor
    .update(seeds)
    .set(values)
    .where(and(eq(seeds.workspaceId, workspaceId), eq(seeds.id, seedId)))
}

const touch = prepared((executor) =>
  executor
    .update(seeds)
    .set({ updatedAt: sql`${sql.placeholder('at')}::timestamptz` })
    .where(isSeed)
    .prepare('seeds_touch'),
)

/** Sets the time of the last change of a seed. */
export async function touchSeed(executor: Executor, seed: SeedKey, at: Date): Promise<void> {
  await touch(executor).execute({ ...seed, at: at.toISOString() })
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
        subquery(
          sql`exists (select from ${events} where ${and(
            eq(events.workspaceId, seeds.workspaceId),
            eq(events.type, 'seed.created'),
            eq(events.targetId, seeds.id),
            // Seeds of people have the source `web` or `api`.
            eq(events.source, 'system'),
          )})`,
        ),
      ),
    )
    .returning({ id: seeds.id, title: seeds.title, workspaceId: seeds.workspaceId })
}
