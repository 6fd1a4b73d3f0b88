import { createBatch } from '../db/sql/batch.ts'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import { roleWith, type KeyRestrictions } from '../domain/key-restrictions.ts'
import type { LookUpCall, Principal, WorkspaceOfCaller } from '../domain/principal.ts'
import type { Role } from '../domain/roles.ts'
import { isSlug } from '../domain/slugs.ts'
import {
  findWorkspaceOfMerged,
  findWorkspacesByPart,
  findWorkspacesBySeed,
  findWorkspacesBySlug,
  recordWorkspaceUse,
  type KindOfSeedPart,
} from './access.repository.ts'
import { isAllowed, isOfPeopleOnly, type WorkspaceAction } from './permissions.ts'

/** A workspace in which the caller may do `action`. */
export interface AccessibleWorkspace extends WorkspaceOfCaller {
  /** The role that the caller acts with. */
  role: Role
  /** What was asked for. */
  action: WorkspaceAction
}

/**
 * Finds a workspace by its slug and checks that the caller may do `action` there. Throws `not_found` when no workspace has
 * the slug, `key_not_for_workspace`, `not_a_member`, and `role_insufficient`.
 */
export type RequireWorkspace = (
  principal: LookUpCall,
  slug: string,
  action: WorkspaceAction,
) => Promise<AccessibleWorkspace>

/**
 * Finds the workspace of a seed and checks that the caller may do `action` there. Throws `not_found` unless the seed is in a
 * workspace of the caller, `key_not_for_workspace`, and `role_insufficient`. Returns the id of the seed too: of one that was
 * merged, what only reads gets that of the other seed, and everything else is refused by `seed_merged`.
 */
export type RequireWorkspaceOfSeed = (
  principal: LookUpCall,
  seedId: string,
  action: WorkspaceAction,
) => Promise<AccessibleWorkspace & { seedId: string }>

/** What reads the seed that another one was merged into, by the id of the merged one. */
const readingActions: ReadonlySet<WorkspaceAction> = new Set<WorkspaceAction>([
  'seeds.get',
  'seeds.listParticipants',
  'seeds.listEvidence',
  'seeds.exportEvidenceCsv',
  'comments.list',
  'agentRequests.list',
])

/**
 * The same for what belongs to a seed, by its own id: evidence, a comment, or, as `seed`, a seed that may be deleted. Finds
 * the seed too. Parts of deleted seeds do not exist.
 */
export type RequireSeedOf = (
  principal: LookUpCall,
  part: { kind: KindOfSeedPart; id: string },
  action: WorkspaceAction,
) => Promise<AccessibleWorkspace & { seedId: string }>

// How often the use of one workspace is recorded. A change to another workspace is recorded at once, for `me.home`.
const recordedEveryMs = 60_000

type FoundWorkspace = Promise<WorkspaceOfCaller | undefined>

export function createWorkspaceAccess({ db, clock }: { db: Database; clock: Clock }): RequireWorkspace {
  const ofRequests = new WeakMap<LookUpCall, Map<string, FoundWorkspace>>()
  const findBySlug = createBatch((questions: readonly { slug: string; userId: string }[]) =>
    findWorkspacesBySlug(db, questions, timesOf(clock)),
  )

  function find(principal: LookUpCall, slug: string): FoundWorkspace {
    const { read } = principal
    if (read && 'slug' in read.target && read.target.slug === slug) return Promise.resolve(read.workspace)
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
    assertKeyReaches(principal.restrictions, workspace.id)
    if (workspace.role === null) throw errors.notAMember()
    const role = roleWith(principal.restrictions, workspace.role)
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
    const isRead = read && 'seedId' in read.target && read.target.seedId === seedId
    const search = () => (isId(seedId) ? findBySeed({ seedId, userId }) : undefined)
    const found = isRead ? read.workspace : await search()
    const merged =
      found || !isId(seedId) ? undefined : await findWorkspaceOfMerged(db, { seedId, userId }, timesOf(clock))
    const workspace = merged ?? found
    const accessible = await enter(db, requireMembership(principal, workspace), {
      principal,
      action,
      now: clock.now(),
    })
    if (!merged) return { ...accessible, seedId }
    if (!readingActions.has(action))
      throw errors.seedMerged({ addition: `It is now the seed ${merged.seedId}.` })
    principal.onSeedMerged?.(merged.seedId)
    return { ...accessible, seedId: merged.seedId }
  }
}

export function createPartAccess({ db, clock }: { db: Database; clock: Clock }): RequireSeedOf {
  const findIn = (kind: KindOfSeedPart) =>
    createBatch((questions: readonly { id: string; userId: string }[]) =>
      findWorkspacesByPart(db, kind, questions, timesOf(clock)),
    )
  const finders = { evidence: findIn('evidence'), comment: findIn('comment'), seed: findIn('seed') }
  return async (principal, { kind, id }, action) => {
    const workspace = isId(id) ? await finders[kind]({ id, userId: principal.user.id }) : undefined
    return enter(db, requireMembership(principal, workspace), { principal, action, now: clock.now() })
  }
}

/** The workspace that a seed or a part of one is in. Throws `not_found` and `key_not_for_workspace`. */
function requireMembership<Found extends WorkspaceOfCaller>(
  principal: LookUpCall,
  workspace: Found | undefined,
): Found & { role: Role } {
  // 404, not 403: only members may learn whether a seed exists.
  if (!workspace?.role || !canReach(principal, workspace)) throw errors.notFound()
  assertKeyReaches(principal.restrictions, workspace.id)
  return { ...workspace, role: roleWith(principal.restrictions, workspace.role) }
}

/**
 * The access of a caller who was authenticated again during a long request, from what was read with the credential;
 * undefined when they may no longer do `action`. Asks nothing more, and records no use.
 */
export function findAccessAgain(
  principal: LookUpCall,
  workspaceId: string,
  action: WorkspaceAction,
): AccessibleWorkspace | undefined {
  const workspace = principal.read?.workspace
  if (workspace?.id !== workspaceId || !canReach(principal, workspace)) return undefined
  const isReached = principal.restrictions?.workspaceIds?.includes(workspaceId) ?? true
  if (!isReached || workspace.role === null) return undefined
  const role = roleWith(principal.restrictions, workspace.role)
  return isAllowed(role, action) ? { ...workspace, role, action } : undefined
}

/** The times that a look-up of a workspace compares with. */
export function timesOf(clock: Clock): { now: Date; recordedSince: Date } {
  const now = clock.now()
  return { now, recordedSince: new Date(now.getTime() - recordedEveryMs) }
}

function canReach({ onlyWorkspaceId }: Principal, { id }: WorkspaceOfCaller): boolean {
  return onlyWorkspaceId === undefined || onlyWorkspaceId === id
}

/** Throws `key_not_for_workspace` for the restrictions of a key that is bound to other workspaces. */
export function assertKeyReaches(restrictions: KeyRestrictions | undefined, workspaceId: string): void {
  const workspaceIds = restrictions?.workspaceIds ?? null
  if (workspaceIds !== null && !workspaceIds.includes(workspaceId)) throw errors.keyNotForWorkspace()
}

/** Checks that the role allows the action, and records the use of the workspace by a person. */
async function enter<Found extends WorkspaceOfCaller & { role: Role }>(
  db: Database,
  workspace: Found,
  { principal, action, now }: { principal: Principal; action: WorkspaceAction; now: Date },
) {
  const userId = principal.user.id
  if (principal.isService && isOfPeopleOnly(action)) throw errors.serviceAccountNotAllowed()
  if (!isAllowed(workspace.role, action)) throw errors.roleInsufficient()
  // An agent does not change which workspace `me.home` leads the person to.
  if (principal.source === 'mcp') return { ...workspace, action }
  // Read from the database, not cached: another replica may have recorded another workspace since.
  if (!workspace.isUseRecorded) await recordWorkspaceUse(db, { workspaceId: workspace.id, userId, at: now })
  return { ...workspace, action }
}
