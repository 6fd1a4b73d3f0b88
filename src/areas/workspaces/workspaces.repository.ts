import { and, asc, count, desc, eq, inArray, isNotNull, isNull, lte, or, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { contains } from '../../db/contains.ts'
import { prepared } from '../../db/prepared.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import { workspaces, workspaceSlugs } from '../../db/schema/workspaces.ts'
import { errors } from '../../kernel/errors.ts'
import type { Role } from '../../kernel/roles.ts'

/** The most workspaces that one person may be in: their list is never cut. */
export const membershipsMax = 1000

/** A workspace of a person's, and what they are in it. */
export interface MembershipRow {
  id: string
  name: string
  slug: string
  iconKey: string | null
  role: Role
}

const selectMemberships = prepared((executor) =>
  executor
    .select({
      id: workspaces.id,
      name: workspaces.name,
      slug: workspaces.slug,
      iconKey: workspaces.iconKey,
      role: memberships.role,
    })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(eq(memberships.userId, sql.placeholder('userId')))
    .orderBy(desc(memberships.lastUsedAt), desc(memberships.joinedAt), desc(memberships.workspaceId))
    .limit(sql.placeholder('limit'))
    .prepare('memberships_select_of_user'),
)

/** A person's workspaces, the one used last first. */
export function listMembershipsOfUser(
  executor: Executor,
  userId: string,
  limit: number,
): Promise<MembershipRow[]> {
  return selectMemberships(executor).execute({ userId, limit })
}

/** Makes the transactions that add a person to workspaces take turns, so that none of them counts past another. */
export async function lockUserForNewMembership(executor: Executor, userId: string): Promise<void> {
  await executor.select({ id: users.id }).from(users).where(eq(users.id, userId)).for('no key update')
}

export async function countMembershipsOfUser(executor: Executor, userId: string): Promise<number> {
  const [row] = await executor
    .select({ count: count() })
    .from(memberships)
    .where(eq(memberships.userId, userId))
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
 * Makes a slug the present one of a workspace: a free slug, one that nobody keeps any more, or an earlier one of its
 * own. Throws `slug_taken` otherwise. Of several at once the primary key lets one through.
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

/** Keeps the slug that a workspace no longer has from others, for a while. */
export async function keepFormerSlug(
  executor: Executor,
  former: { slug: string; workspaceId: string; keptUntil: Date },
): Promise<void> {
  await executor
    .update(workspaceSlugs)
    .set({ keptUntil: former.keptUntil })
    .where(and(eq(workspaceSlugs.slug, former.slug), eq(workspaceSlugs.workspaceId, former.workspaceId)))
}

/** Frees the former slugs of a workspace but the `kept` latest ones. */
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

/** The workspace as it stands, locked until the transaction ends: changes of one workspace take turns. */
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

/** Shows another icon; returns the storage key of the one before. */
export async function replaceWorkspaceIcon(
  executor: Executor,
  workspaceId: string,
  iconKey: string,
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
    .leftJoin(
      memberships,
      and(
        eq(memberships.workspaceId, workspaceSlugs.workspaceId),
        eq(memberships.userId, sql.placeholder('userId')),
      ),
    )
    .where(
      and(
        eq(workspaceSlugs.slug, sql.placeholder('slug')),
        or(isNull(workspaceSlugs.keptUntil), sql`${workspaceSlugs.keptUntil} > ${sql.placeholder('now')}`),
      ),
    )
    .prepare('workspace_slugs_select_holder'),
)

/** Which workspace has or keeps a slug, if any, and whether a person is a member of it. */
export async function findSlugHolder(
  executor: Executor,
  input: { slug: string; userId: string; now: Date },
): Promise<{ workspaceId: string; isMember: boolean } | undefined> {
  const [holder] = await selectSlugHolder(executor).execute({ ...input, now: input.now.toISOString() })
  return holder && { workspaceId: holder.workspaceId, isMember: holder.userId !== null }
}

/** A workspace of a person, and who else is in it. */
export interface CrowdedMembershipRow {
  id: string
  name: string
  slug: string
  iconKey: string | null
  role: Role
  memberCount: number
  ownerCount: number
}

/** All workspaces of a person with how many are in each, in the order of their ids, in which they are locked. */
export function listCrowdedMemberships(executor: Executor, userId: string): Promise<CrowdedMembershipRow[]> {
  const countMembers = (filter: SQL | undefined) => sql<number>`(
    select count(*)::int from memberships as m where m.workspace_id = ${workspaces.id} and ${filter ?? sql`true`}
  )`
  return executor
    .select({
      id: workspaces.id,
      name: workspaces.name,
      slug: workspaces.slug,
      iconKey: workspaces.iconKey,
      role: memberships.role,
      memberCount: countMembers(undefined),
      ownerCount: countMembers(sql`m.role = 'owner'`),
    })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(eq(memberships.userId, userId))
    .orderBy(asc(workspaces.id))
}

/** Forgets who created the workspaces that a person created. */
export async function forgetCreator(executor: Executor, userId: string): Promise<void> {
  await executor.update(workspaces).set({ creatorUserId: null }).where(eq(workspaces.creatorUserId, userId))
}

/** Deletes a workspace with all that is in it. */
export async function deleteWorkspace(executor: Executor, workspaceId: string): Promise<void> {
  await executor.delete(workspaces).where(eq(workspaces.id, workspaceId))
}

/** A workspace in the operators' list. */
export interface ListedWorkspaceRow {
  id: string
  name: string
  slug: string
  memberCount: number
  /** The addresses of its owners. */
  owners: string[]
  createdAt: Date
  /** How many workspaces the filter matches, beyond the limit too. */
  total: number
}

/** Workspaces, newest first: all, or those with a text in their name or slug. */
export async function listWorkspaces(
  executor: Executor,
  filter: { text: string | undefined; limit: number | undefined },
): Promise<ListedWorkspaceRow[]> {
  const { text, limit } = filter
  const rows = executor
    .select({
      id: workspaces.id,
      name: workspaces.name,
      slug: workspaces.slug,
      memberCount: sql<number>`(
        select count(*)::int from memberships as m where m.workspace_id = workspaces.id
      )`,
      // Drizzle leaves out the names of tables where only one is selected from.
      owners: sql<string[]>`array(
        select u.email from memberships as m join users as u on u.id = m.user_id
        where m.workspace_id = workspaces.id and m.role = 'owner' order by m.joined_at, u.id
      )`,
      createdAt: workspaces.createdAt,
      total: sql<number>`count(*) over ()::int`,
    })
    .from(workspaces)
    .where(
      text === undefined
        ? undefined
        : or(contains(sql`lower(${workspaces.name})`, text), contains(workspaces.slug, text)),
    )
    .orderBy(desc(workspaces.createdAt), desc(workspaces.id))
  return limit === undefined ? rows : rows.limit(limit)
}
