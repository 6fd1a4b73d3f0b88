import { createBatch } from '../db/sql/batch.ts'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { Call, Principal, WorkspaceOfCaller } from '../kernel/principal.ts'
import type { Role } from '../kernel/roles.ts'
import { isSlug } from '../kernel/slugs.ts'
import { findWorkspacesBySeed, findWorkspacesBySlug, recordWorkspaceUse } from './access.repository.ts'
import { isAllowed, type WorkspaceAction } from './permissions.ts'

/** A workspace in which the caller may do `action`. */
export interface AccessibleWorkspace extends WorkspaceOfCaller {
  role: Role
  /** What was asked for. */
  action: WorkspaceAction
}

/**
 * Finds a workspace by its slug and checks that the caller may do `action` there. Throws `not_found` when no workspace has
 * the slug, `not_a_member`, and `role_insufficient`.
 */
export type RequireWorkspace = (
  principal: Call,
  slug: string,
  action: WorkspaceAction,
) => Promise<AccessibleWorkspace>

/**
 * Finds the workspace of a seed and checks that the caller may do `action` there. Throws `not_found` unless the seed is in a
 * workspace of the caller, and `role_insufficient`.
 */
export type RequireWorkspaceOfSeed = (
  principal: Call,
  seedId: string,
  action: WorkspaceAction,
) => Promise<AccessibleWorkspace>

// How often the use of one workspace is recorded. A change to another workspace is recorded at once, for `me.home`.
const recordedEveryMs = 60_000

type FoundWorkspace = Promise<WorkspaceOfCaller | undefined>

export function createWorkspaceAccess({ db, clock }: { db: Database; clock: Clock }): RequireWorkspace {
  const ofRequests = new WeakMap<Call, Map<string, FoundWorkspace>>()
  const findBySlug = createBatch((questions: readonly { slug: string; userId: string }[]) =>
    findWorkspacesBySlug(db, questions, timesOf(clock)),
  )

  function find(principal: Call, slug: string): FoundWorkspace {
    const { read } = principal
    if (read && 'slug' in read.subject && read.subject.slug === slug) return Promise.resolve(read.workspace)
    // Reject malformed slugs before querying: some of them PostgreSQL could not compare.
    if (!isSlug(slug)) return Promise.resolve(undefined)
    const search = () => findBySlug({ slug, userId: principal.user.id })
    if (!principal.isOfOneRequest) return search()
    const bySlug = ofRequests.get(principal) ?? new Map<string, FoundWorkspace>()
    ofRequests.set(principal, bySlug)
    const found = bySlug.get(slug) ?? search()
    bySlug.set(slug, found)
    return found
  }

  return async (principal, slug, action) => {
    const workspace = await find(principal, slug)
    if (!workspace || !canReach(principal, workspace)) throw errors.notFound()
    const { role } = workspace
    if (role === null) throw errors.notAMember()
    const accessible = await enter(db, { ...workspace, role }, { principal, action, now: clock.now() })
    workspace.isUseRecorded = true
    if (workspace.slug !== slug) principal.onSlugMoved?.(workspace.slug)
    return accessible
  }
}

export function createSeedAccess({ db, clock }: { db: Database; clock: Clock }): RequireWorkspaceOfSeed {
  const findBySeed = createBatch((questions: readonly { seedId: string; userId: string }[]) =>
    findWorkspacesBySeed(db, questions, timesOf(clock)),
  )
  return async (principal, seedId, action) => {
    const userId = principal.user.id
    const { read } = principal
    const isRead = read && 'seedId' in read.subject && read.subject.seedId === seedId
    const search = () => (isId(seedId) ? findBySeed({ seedId, userId }) : undefined)
    const workspace = isRead ? read.workspace : await search()
    // 404, not 403: only members may learn whether a seed exists.
    if (!workspace?.role || !canReach(principal, workspace)) throw errors.notFound()
    return enter(db, { ...workspace, role: workspace.role }, { principal, action, now: clock.now() })
  }
}

/** The times that a look-up of a workspace compares with. */
export function timesOf(clock: Clock): { now: Date; recordedSince: Date } {
  const now = clock.now()
  return { now, recordedSince: new Date(now.getTime() - recordedEveryMs) }
}

function canReach({ onlyWorkspaceId }: Principal, { id }: WorkspaceOfCaller): boolean {
  return onlyWorkspaceId === undefined || onlyWorkspaceId === id
}

/** Checks that the role allows the action, and records the use of the workspace by a person. */
async function enter<Found extends WorkspaceOfCaller & { role: Role }>(
  db: Database,
  workspace: Found,
  { principal, action, now }: { principal: Principal; action: WorkspaceAction; now: Date },
) {
  const userId = principal.user.id
  if (!isAllowed(workspace.role, action)) throw errors.roleInsufficient()
  // An agent does not change which workspace `me.home` leads the person to.
  if (principal.source === 'mcp') return { ...workspace, action }
  // Read from the database, not cached: another replica may have recorded another workspace since.
  if (!workspace.isUseRecorded) await recordWorkspaceUse(db, { workspaceId: workspace.id, userId, at: now })
  return { ...workspace, action }
}
