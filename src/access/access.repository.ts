import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { prepared } from '../db/prepared.ts'
import { memberships } from '../db/schema/memberships.ts'
import { seeds } from '../db/schema/seeds.ts'
import { workspaceColumns, workspaces, workspaceSlugs } from '../db/schema/workspaces.ts'
import type { Role } from '../kernel/roles.ts'

/** A workspace with the caller's role. */
export interface WorkspaceOfCaller {
  id: string
  name: string
  slug: string
  iconKey: string | null
  allowedDomains: string[]
  /** Null for a caller who is not a member. */
  role: Role | null
  /** Whether its recent use is recorded, and no later use of another workspace. */
  isUseRecorded: boolean | null
}

const workspaceOfCaller = {
  ...workspaceColumns,
  allowedDomains: workspaces.allowedDomains,
  role: memberships.role,
  isUseRecorded: sql<boolean | null>`${gt(memberships.lastUsedAt, sql.placeholder('recordedSince'))}
    and not exists (
      select from ${memberships} as other
      where other.user_id = ${memberships.userId} and other.workspace_id <> ${memberships.workspaceId}
        and other.last_used_at >= ${memberships.lastUsedAt}
    )`,
}

const isMembershipOfCaller = and(
  eq(memberships.workspaceId, workspaces.id),
  eq(memberships.userId, sql.placeholder('userId')),
)

const selectBySlug = prepared((executor) =>
  executor
    .select(workspaceOfCaller)
    .from(workspaceSlugs)
    .innerJoin(workspaces, eq(workspaces.id, workspaceSlugs.workspaceId))
    .leftJoin(memberships, isMembershipOfCaller)
    .where(
      and(
        eq(workspaceSlugs.slug, sql.placeholder('slug')),
        or(isNull(workspaceSlugs.keptUntil), gt(workspaceSlugs.keptUntil, sql.placeholder('now'))),
      ),
    )
    .prepare('workspaces_select_by_slug'),
)

/** Finds a workspace by its current or a former slug, with the caller's role, in one round trip. */
export async function findWorkspaceBySlug(
  executor: Executor,
  input: { slug: string; userId: string; now: Date; recordedSince: Date },
): Promise<WorkspaceOfCaller | undefined> {
  const [workspace] = await selectBySlug(executor).execute({
    ...input,
    now: input.now.toISOString(),
    recordedSince: input.recordedSince.toISOString(),
  })
  return workspace
}

const selectBySeed = prepared((executor) =>
  executor
    .select(workspaceOfCaller)
    .from(seeds)
    .innerJoin(workspaces, eq(workspaces.id, seeds.workspaceId))
    .leftJoin(memberships, isMembershipOfCaller)
    .where(eq(seeds.id, sql.placeholder('seedId')))
    .prepare('workspaces_select_by_seed'),
)

/** Finds the workspace of a seed, with the caller's role, in one round trip. */
export async function findWorkspaceBySeed(
  executor: Executor,
  input: { seedId: string; userId: string; recordedSince: Date },
): Promise<WorkspaceOfCaller | undefined> {
  const [workspace] = await selectBySeed(executor).execute({
    ...input,
    recordedSince: input.recordedSince.toISOString(),
  })
  return workspace
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
