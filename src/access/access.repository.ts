import { and, eq, gt, isNull, or, sql, type Column, type SQL } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { byOrdinal, keysParameter, ordinal } from '../db/sql/batch.ts'
import { prepared } from '../db/sql/prepared.ts'
import { subquery } from '../db/schema/subquery.ts'
import { lastPositionOf } from '../db/schema/events.ts'
import { memberships } from '../db/schema/memberships.ts'
import { comments } from '../db/schema/comments.ts'
import { evidence, seeds } from '../db/schema/seeds.ts'
import { isWorkspace, workspaceColumns, workspaces, workspaceSlugs } from '../db/schema/workspaces.ts'
import type { PartOfSeed, WorkspaceOfCaller } from '../domain/principal.ts'
import type { Role } from '../domain/roles.ts'

/**
 * The columns of a workspace of a caller, in a query that joins `workspaces`. The membership is read by subqueries, which
 * look it up by its whole key: for a join, PostgreSQL may read all memberships of the workspace.
 */
export function workspaceOfCaller(userId: Column | SQL) {
  const ofCaller = sql`from ${memberships} where ${memberships.workspaceId} = ${workspaces.id} and ${memberships.userId} = ${userId}`
  return {
    ...workspaceColumns,
    allowedDomains: workspaces.allowedDomains,
    role: subquery(sql<Role | null>`(select ${memberships.role} ${ofCaller})`).as('caller_role'),
    isUseRecorded: subquery(sql<boolean | null>`(
      select ${gt(memberships.lastUsedAt, sql.placeholder('recordedSince'))}
        and not exists (
          select from ${memberships} as other
          where other.user_id = ${memberships.userId} and other.workspace_id <> ${memberships.workspaceId}
            and other.last_used_at >= ${memberships.lastUsedAt}
        )
      ${ofCaller}
    )`).as('is_use_recorded'),
  }
}

/** The workspaces that callers ask for, as rows: the slug or seed, the caller, and the ordinal of the question. */
const askedFor = (type: 'text' | 'uuid') => sql`
  unnest(${keysParameter('keys', type)}, ${keysParameter('userIds', 'uuid')})
    with ordinality as asked (key, user_id, ordinal)`

/** Whether a slug is the current one of a workspace, or a former one that still works. */
export const isSlugInUse = or(
  isNull(workspaceSlugs.keptUntil),
  gt(workspaceSlugs.keptUntil, sql.placeholder('now')),
)

const selectBySlug = prepared((executor) =>
  executor
    .select({
      ordinal,
      value: {
        ...workspaceOfCaller(sql`asked.user_id`),
        lastPosition: lastPositionOf(workspaces.id),
      },
    })
    .from(askedFor('text'))
    .innerJoin(workspaceSlugs, eq(workspaceSlugs.slug, sql`asked.key`))
    .innerJoin(workspaces, isWorkspace(workspaceSlugs.workspaceId))
    .where(isSlugInUse)
    .prepare('workspaces_select_by_slug'),
)

/**
 * Finds workspaces by a current or a former slug, each with the role of its caller, in one round trip. Returns them in the
 * order of the questions.
 */
export async function findWorkspacesBySlug(
  executor: Executor,
  questions: readonly { slug: string; userId: string }[],
  { now, recordedSince }: { now: Date; recordedSince: Date },
): Promise<(WorkspaceOfCaller | undefined)[]> {
  const rows = await selectBySlug(executor).execute({
    keys: questions.map(({ slug }) => slug),
    userIds: questions.map(({ userId }) => userId),
    now: now.toISOString(),
    recordedSince: recordedSince.toISOString(),
  })
  return byOrdinal(questions.length, rows)
}

const selectBySeed = prepared((executor) =>
  executor
    .select({ ordinal, value: workspaceOfCaller(sql`asked.user_id`) })
    .from(askedFor('uuid'))
    .innerJoin(seeds, and(eq(seeds.id, sql`asked.key`), isNull(seeds.deletedAt)))
    .innerJoin(workspaces, isWorkspace(seeds.workspaceId))
    .prepare('workspaces_select_by_seed'),
)

/** Finds the workspaces of seeds, each with the role of its caller, in one round trip, in the order of the questions. */
export async function findWorkspacesBySeed(
  executor: Executor,
  questions: readonly { seedId: string; userId: string }[],
  { recordedSince }: { recordedSince: Date },
): Promise<(WorkspaceOfCaller | undefined)[]> {
  const rows = await selectBySeed(executor).execute({
    keys: questions.map(({ seedId }) => seedId),
    userIds: questions.map(({ userId }) => userId),
    recordedSince: recordedSince.toISOString(),
  })
  return byOrdinal(questions.length, rows)
}

const selectByMerged = prepared((executor) => {
  const merged = sql`(
    with recursive chain (id, into_id) as (
      select id, merged_into_seed_id from ${seeds} where id = ${sql.placeholder('seedId')}::uuid
      union all
      select next.id, next.merged_into_seed_id from chain join ${seeds} as next on next.id = chain.into_id
    )
    select id from chain where into_id is null and id <> ${sql.placeholder('seedId')}::uuid
  )`
  return executor
    .select({ ...workspaceOfCaller(sql`${sql.placeholder('userId')}::uuid`), seedId: seeds.id })
    .from(seeds)
    .innerJoin(workspaces, isWorkspace(seeds.workspaceId))
    .where(and(eq(seeds.id, merged), isNull(seeds.deletedAt)))
    .prepare('workspaces_select_by_merged_seed')
})

/** Finds the workspace of a seed that was merged, with the seed that it is now, through all merges, and the role of the caller. */
export async function findWorkspaceOfMerged(
  executor: Executor,
  question: { seedId: string; userId: string },
  { recordedSince }: { recordedSince: Date },
): Promise<(WorkspaceOfCaller & { seedId: string }) | undefined> {
  const [row] = await selectByMerged(executor).execute({
    ...question,
    recordedSince: recordedSince.toISOString(),
  })
  return row
}

/** A seed that may be deleted, or a part of a seed. */
export type KindOfSeedPart = PartOfSeed['kind'] | 'seed'

const selectByPart = {
  evidence: prepared((executor) => prepareByPart(executor, evidence, 'workspaces_select_by_evidence')),
  comment: prepared((executor) => prepareByPart(executor, comments, 'workspaces_select_by_comment')),
  seed: prepared((executor) =>
    executor
      .select({ ordinal, value: workspaceOfPart() })
      .from(askedFor('uuid'))
      .innerJoin(seeds, eq(seeds.id, sql`asked.key`))
      .innerJoin(workspaces, isWorkspace(seeds.workspaceId))
      .prepare('workspaces_select_by_any_seed'),
  ),
}

function prepareByPart(executor: Executor, table: typeof evidence | typeof comments, name: string) {
  return executor
    .select({ ordinal, value: workspaceOfPart() })
    .from(askedFor('uuid'))
    .innerJoin(table as typeof evidence, eq(table.id, sql`asked.key`))
    .innerJoin(seeds, and(eq(seeds.id, table.seedId), isNull(seeds.deletedAt)))
    .innerJoin(workspaces, isWorkspace(seeds.workspaceId))
    .prepare(name)
}

function workspaceOfPart() {
  return { ...workspaceOfCaller(sql`asked.user_id`), seedId: seeds.id }
}

/**
 * Finds the workspaces and the seeds of parts of one kind, each with the role of its caller, in one round trip, in the order
 * of the questions.
 */
export async function findWorkspacesByPart(
  executor: Executor,
  kind: KindOfSeedPart,
  questions: readonly { id: string; userId: string }[],
  { recordedSince }: { recordedSince: Date },
): Promise<((WorkspaceOfCaller & { seedId: string }) | undefined)[]> {
  const rows = await selectByPart[kind](executor).execute({
    keys: questions.map(({ id }) => id),
    userIds: questions.map(({ userId }) => userId),
    recordedSince: recordedSince.toISOString(),
  })
  return byOrdinal(questions.length, rows)
}

/** Records the use of a workspace by a member. */
export async function recordWorkspaceUse(
  executor: Executor,
  use: { workspaceId: string; userId: string; at: Date },
): Promise<void> {
  await executor
    .update(memberships)
    .set({ lastUsedAt: use.at })
    .where(and(eq(memberships.workspaceId, use.workspaceId), eq(memberships.userId, use.userId)))
}
