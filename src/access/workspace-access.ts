import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { Principal } from '../kernel/principal.ts'
import type { Role } from '../kernel/roles.ts'
import { isSlug } from '../kernel/slugs.ts'
import {
  findWorkspaceBySeed,
  findWorkspaceBySlug,
  recordWorkspaceUse,
  type WorkspaceOfCaller,
} from './access.repository.ts'
import { isAllowed, type WorkspaceAction } from './permissions.ts'

/** A workspace in which the caller may do what was asked for. */
export interface AccessibleWorkspace extends WorkspaceOfCaller {
  role: Role
  /** What was asked for. */
  action: WorkspaceAction
}

/**
 * Finds the workspace of a slug for somebody who wants to do something in it. Throws `not_found` when no workspace has
 * the slug, `not_a_member` when the caller is not in it, and `role_insufficient` when their role does not allow it.
 */
export type RequireWorkspace = (
  principal: Principal,
  slug: string,
  action: WorkspaceAction,
) => Promise<AccessibleWorkspace>

/**
 * Finds the workspace of a seed for somebody who wants to do something with it. Throws `not_found` when there is no such
 * seed in a workspace that the caller is in, and `role_insufficient` when their role does not allow it.
 */
export type RequireWorkspaceOfSeed = (
  principal: Principal,
  seedId: string,
  action: WorkspaceAction,
) => Promise<AccessibleWorkspace>

// How old the record of a person's last workspace may become. That of another one is written at once: home goes there.
const recordedEveryMs = 60_000

export function createWorkspaceAccess({ db, clock }: { db: Database; clock: Clock }): RequireWorkspace {
  return async (principal, slug, action) => {
    const userId = principal.user.id
    const now = clock.now()
    const recordedSince = new Date(now.getTime() - recordedEveryMs)
    // What cannot be a slug is none, and may be nothing that the database could compare with.
    const workspace = isSlug(slug)
      ? await findWorkspaceBySlug(db, { slug, userId, now, recordedSince })
      : undefined
    if (!workspace) throw errors.notFound()
    const { role } = workspace
    if (role === null) throw errors.notAMember()
    if (!isAllowed(role, action)) throw errors.roleInsufficient()
    if (workspace.slug !== slug) principal.onSlugMoved?.(workspace.slug)
    // Asked of the database, not remembered: another process may have seen the person elsewhere since.
    if (!workspace.isUseRecorded) await recordWorkspaceUse(db, { workspaceId: workspace.id, userId, at: now })
    return { ...workspace, role, action }
  }
}

export function createSeedAccess({ db, clock }: { db: Database; clock: Clock }): RequireWorkspaceOfSeed {
  return async (principal, seedId, action) => {
    const userId = principal.user.id
    const now = clock.now()
    const recordedSince = new Date(now.getTime() - recordedEveryMs)
    const workspace = isId(seedId)
      ? await findWorkspaceBySeed(db, { seedId, userId, recordedSince })
      : undefined
    // Unlike a slug, an id is a secret: whether there is such a seed is nobody else's to know.
    if (!workspace?.role) throw errors.notFound()
    const { role } = workspace
    if (!isAllowed(role, action)) throw errors.roleInsufficient()
    if (!workspace.isUseRecorded) await recordWorkspaceUse(db, { workspaceId: workspace.id, userId, at: now })
    return { ...workspace, role, action }
  }
}
