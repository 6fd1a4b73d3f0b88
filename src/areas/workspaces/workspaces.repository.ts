import { and, asc, count, desc, eq, inArray, isNotNull, isNull, lte, or, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { itemColumns, pictureUrl, selectJsonRows } from '../../db/sql/json-rows.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { isStaying } from '../../db/schema/account-deletions.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { isActive, users } from '../../db/schema/users.ts'
import { isWorkspace, workspaceColumns, workspaces, workspaceSlugs } from '../../db/schema/workspaces.ts'
import { errors } from '../../kernel/errors.ts'
import type { JsonRows } from '../../kernel/pagination.ts'
import type { Membership } from './workspaces.schemas.ts'

/** The most workspaces that one person may be in. Their list has no pages. */
export const membershipsMax = 1000

const lastUsedFirst = [
  desc(memberships.lastUsedAt),
  desc(memberships.joinedAt),
  desc(memberships.workspaceId),
]

/** Whether a membership is in one of some workspaces, an array as text; in any of them when there is none. */
const isReached = (workspaceIds: SQL) =>
  sql`(${workspaceIds} is null or ${memberships.workspaceId} = any(${workspaceIds}::uuid[]))`

/** An array of ids as the text of PostgreSQL, so that several arrays of different lengths are one parameter. */
const toArrayText = (ids: readonly string[] | null) => ids && `{${ids.join()}}`

const selectMemberships = prepared((executor) =>
  executor
    .select({ ...workspaceColumns, role: memberships.role })
    .from(memberships)
    .innerJoin(workspaces, isWorkspace(memberships.workspaceId))
    .where(
      and(
        eq(memberships.userId, sql.placeholder('userId')),
        isReached(hiddenParameter('workspaceIds', 'text')),
      ),
    )
    .orderBy(...lastUsedFirst)
    .limit(pageLimit)
    .prepare('memberships_select_of_user'),
)

export type MembershipRow = Awaited<ReturnType<typeof listMembershipsOfUser>>[number]

/** The workspaces that a caller reaches. */
export interface ReachOfCaller {
  userId: string
  /** The only ones of that person; null for all. */
  workspaceIds: readonly string[] | null
}

/** The workspaces of a person that the caller reaches, with their role in each, the one used last first. */
export function listMembershipsOfUser(
  executor: Executor,
  { userId, workspaceIds }: ReachOfCaller,
  limit: number,
) {
  return selectMemberships(executor).execute({ userId, workspaceIds: toArrayText(workspaceIds), limit })
}

const selectMembershipsOfUsers = prepared((executor) => {
  const rows = executor
    .select(
      itemColumns<Membership>({
        id: workspaces.id,
        name: workspaces.name,
        slug: workspaces.slug,
        iconUrl: pictureUrl(workspaces.iconKey),
        role: memberships.role,
      }),
    )
    .from(memberships)
    .innerJoin(workspaces, isWorkspace(memberships.workspaceId))
    .where(and(eq(memberships.userId, sql`asked.user_id`), isReached(sql`asked.workspace_ids`)))
    .orderBy(...lastUsedFirst)
    .limit(pageLimit)
  const list = selectJsonRows(executor, rows).as('list')
  return executor
    .select({ text: list.text, count: list.count })
    .from(
      sql`unnest(${keysParameter('userIds', 'uuid')}, ${keysParameter('workspaceIds', 'text')})
        with ordinality as asked (user_id, workspace_ids, ordinal)`,
    )
    .crossJoinLateral(list)
    .orderBy(sql`asked.ordinal`)
    .prepare('memberships_select_of_users')
})

/**
 * The workspaces that each of several callers reaches, with the role of the person, the one used last first, in one round
 * trip.
 */
export function listMembershipsOfUsers(
  executor: Executor,
  { callers, ...input }: { callers: readonly ReachOfCaller[]; limit: number; pictureUrlPrefix: string },
): Promise<JsonRows[]> {
  return selectMembershipsOfUsers(executor).execute({
    ...input,
    userIds: callers.map(({ userId }) => userId),
    workspaceIds: callers.map(({ workspaceIds }) => toArrayText(workspaceIds)),
  })
}

const countOfUser = prepared((executor) =>
  executor
    .select({ count: count() })
    .from(memberships)
    .where(eq(memberships.userId, sql.placeholder('userId')))
    .prepare('memberships_count_of_user'),
)

export async function countMembershipsOfUser(executor: Executor, userId: string): Promise<number> {
  const [row] = await countOfUser(executor).execute({ userId })
  return row?.count ?? 0
}

export async function insertWorkspace(
  executor: Executor,
  row: typeof workspaces.$inferInsert,
): Promise<void> {
  await executor.insert(workspaces).values(row)
}

export async function insertMembership(
  executor: Executor,
  row: typeof memberships.$inferInsert,
): Promise<void> {
  await executor.insert(memberships).values(row)
}

/**
 * Makes a slug the current one of a workspace if it is unused, released, or one of the workspace's former slugs. Throws
 * `slug_taken` otherwise. The primary key lets only one of several concurrent claims succeed.
 */
export async function claimSlug(
  executor: Executor,
  claim: { slug: string; workspaceId: string; now: Date },
): Promise<void> {
  const { slug, workspaceId, now } = claim
  const { rowCount } = await executor
    .insert(workspaceSlugs)
    .values({ slug, workspaceId, keptUntil: null })
    .onConflictDoUpdate({
      target: workspaceSlugs.slug,
      set: { workspaceId, keptUntil: null },
      setWhere: sql`${lte(workspaceSlugs.keptUntil, now)} or ${eq(workspaceSlugs.workspaceId, workspaceId)}`,
    })
  if (rowCount !== 1) throw errors.slugTaken()
}

/** Reserves a former slug for its workspace until `keptUntil`. */
export async function keepFormerSlug(
  executor: Executor,
  former: { slug: string; workspaceId: string; keptUntil: Date },
): Promise<void> {
  await executor
    .update(workspaceSlugs)
    .set({ keptUntil: former.keptUntil })
    .where(and(eq(workspaceSlugs.slug, former.slug), eq(workspaceSlugs.workspaceId, former.workspaceId)))
}

/** Releases the former slugs of a workspace except the `kept` latest. */
export async function releaseOldestSlugs(
  executor: Executor,
  workspaceId: string,
  kept: number,
): Promise<void> {
  const former = executor
    .select({ slug: workspaceSlugs.slug })
    .from(workspaceSlugs)
    .where(and(eq(workspaceSlugs.workspaceId, workspaceId), isNotNull(workspaceSlugs.keptUntil)))
    .orderBy(desc(workspaceSlugs.keptUntil), desc(workspaceSlugs.slug))
    .offset(kept)
  await executor.delete(workspaceSlugs).where(inArray(workspaceSlugs.slug, former))
}

/** Reads a workspace and locks it until the transaction ends. */
export async function lockWorkspace(
  executor: Executor,
  workspaceId: string,
): Promise<{ name: string; slug: string; allowedDomains: string[] } | undefined> {
  const [workspace] = await executor
    .select({ name: workspaces.name, slug: workspaces.slug, allowedDomains: workspaces.allowedDomains })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
    .for('no key update')
  return workspace
}

export async function updateWorkspace(
  executor: Executor,
  workspaceId: string,
  change: { name: string; slug: string; allowedDomains: string[] },
): Promise<void> {
  await executor.update(workspaces).set(change).where(eq(workspaces.id, workspaceId))
}

/** Sets or removes the icon. Returns the storage key of the previous one. */
export async function replaceWorkspaceIcon(
  executor: Executor,
  workspaceId: string,
  iconKey: string | null,
): Promise<string | null> {
  const [before] = await executor
    .select({ iconKey: workspaces.iconKey })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
    .for('no key update')
  await executor.update(workspaces).set({ iconKey }).where(eq(workspaces.id, workspaceId))
  return before?.iconKey ?? null
}

const selectSlugHolder = prepared((executor) =>
  executor
    .select({ workspaceId: workspaceSlugs.workspaceId, userId: memberships.userId })
    .from(workspaceSlugs)
    .leftJoin(workspaces, isWorkspace(workspaceSlugs.workspaceId))
    .leftJoin(
      memberships,
      and(eq(memberships.workspaceId, workspaces.id), eq(memberships.userId, sql.placeholder('userId'))),
    )
    .where(
      and(
        eq(workspaceSlugs.slug, sql.placeholder('slug')),
        or(isNull(workspaceSlugs.keptUntil), sql`${workspaceSlugs.keptUntil} > ${sql.placeholder('now')}`),
      ),
    )
    .prepare('workspace_slugs_select_holder'),
)

/**
 * The workspace whose current or former slug this is, null for an erased one, and whether the person is a member of it:
 * nobody is a member of a deleted one.
 */
export async function findSlugHolder(
  executor: Executor,
  input: { slug: string; userId: string; now: Date },
): Promise<{ workspaceId: string | null; isMember: boolean } | undefined> {
  const [holder] = await selectSlugHolder(executor).execute({ ...input, now: input.now.toISOString() })
  return holder && { workspaceId: holder.workspaceId, isMember: holder.userId !== null }
}

export type CrowdedMembershipRow = Awaited<ReturnType<typeof listCrowdedMemberships>>[number]

/**
 * All workspaces of a person with the numbers of their members, without service accounts, and of the owners who are neither about to be deleted nor suspended, by id: the order in which they are locked.
 */
export function listCrowdedMemberships(executor: Executor, userId: string) {
  const countMembers = (filter: SQL | undefined) =>
    subquery(sql<number>`(
    select count(*)::int from memberships as m join users as u on u.id = m.user_id and u.kind = 'person'
    where m.workspace_id = ${workspaces.id} and ${filter ?? sql`true`}
  )`)
  return executor
    .select({
      ...workspaceColumns,
      role: memberships.role,
      memberCount: countMembers(undefined),
      ownerCount: countMembers(
        sql`m.role = 'owner' and (m.user_id = ${userId} or (u.suspended_at is null and ${isStaying(sql`m.user_id`)}))`,
      ),
    })
    .from(memberships)
    .innerJoin(workspaces, isWorkspace(memberships.workspaceId))
    .where(eq(memberships.userId, userId))
    .orderBy(asc(workspaces.id))
}

/** Clears the creator of the workspaces that a person created. */
export async function forgetCreator(executor: Executor, userId: string): Promise<void> {
  await executor.update(workspaces).set({ creatorUserId: null }).where(eq(workspaces.creatorUserId, userId))
}

/** The names of the owners who joined first, without those who are suspended. */
export async function listOwnerNames(
  executor: Executor,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<string[]> {
  const rows = await executor
    .select({ name: users.name })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.role, 'owner'), isActive))
    .orderBy(asc(memberships.joinedAt), asc(memberships.userId))
    .limit(limit)
  return rows.map(({ name }) => name)
}

/**
 * Workspaces, newest first: all, or those with a text in their name or slug. `owners` has email addresses; `total` is how
 * many workspaces the filter matches, beyond the limit too.
 */
export async function listWorkspaces(
  executor: Executor,
  filter: { text: string | undefined; limit: number | undefined },
) {
  const { text, limit } = filter
  const rows = executor
    .select({
      id: workspaces.id,
      name: workspaces.name,
      slug: workspaces.slug,
      memberCount: sql<number>`(
        select count(*)::int from memberships as m where m.workspace_id = workspaces.id
      )`,
      // Drizzle omits table names in a select from one table.
      owners: sql<string[]>`array(
        select u.email from memberships as m join users as u on u.id = m.user_id
        where m.workspace_id = workspaces.id and m.role = 'owner' order by m.joined_at, u.id
      )`,
      createdAt: workspaces.createdAt,
      deletedAt: workspaces.deletedAt,
      total: sql<number>`count(*) over ()::int`,
    })
    .from(workspaces)
    .where(
      text === undefined
        ? undefined
        : sql`position(lower(${text}::text) in lower(${workspaces.name} || ' ' || ${workspaces.slug})) > 0`,
    )
    .orderBy(desc(workspaces.createdAt), desc(workspaces.id))
  return limit === undefined ? rows : rows.limit(limit)
}
