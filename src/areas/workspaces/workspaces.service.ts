import type { Changes } from '../../access/change.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import { lockUser } from '../../users/users.repository.ts'
import { createBatch } from '../../db/sql/batch.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { EntryRules } from '../../domain/accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isPublicMailDomain, parseDomains } from '../../kernel/domains.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { canonicalDomainOf, isOfServices } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import { parseJson, toJson, type Json } from '../../kernel/json-text.ts'
import { isBelowOwner, roleWith } from '../../domain/key-restrictions.ts'
import type { ExpectingCall, LookUpCall, Principal } from '../../domain/principal.ts'
import { assertUsableSlug, isReservedSlug, isSlug } from '../../domain/slugs.ts'
import { parseQuery, requireName } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import { formerSlugKeptMs } from '../../domain/workspaces.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import {
  claimSlug,
  countMembershipsOfUser,
  findSlugHolder,
  insertMembership,
  insertWorkspace,
  keepFormerSlug,
  listMembershipsOfUsers,
  listOwnerNames,
  listWorkspaces,
  lockWorkspace,
  releaseOldestSlugs,
  membershipsMax,
  replaceWorkspaceIcon,
  updateWorkspace,
  type ReachOfCaller,
} from './workspaces.repository.ts'
import type { CreatedWorkspace, Membership, WorkspaceDetail } from './workspaces.schemas.ts'

/** The most mail domains that a workspace may allow. */
export const allowedDomainsMax = 10
/** The most former slugs of a workspace, so that renaming cannot use up names. */
export const formerSlugsMax = 5

export type { CreatedWorkspace, Membership, WorkspaceDetail }

export interface WorkspaceChange {
  name: string
  slug: string
  /** Mail domains, separated by commas or white space. Absent: unchanged. Empty: none. */
  allowedDomains?: string
}

type ListedRow = Awaited<ReturnType<typeof listWorkspaces>>[number]

/** A workspace as operators see it, with the email addresses of its owners. */
export interface ListedWorkspace extends Omit<ListedRow, 'createdAt' | 'deletedAt' | 'total'> {
  createdAt: string
  /** Null for one that is not deleted. */
  deletedAt: string | null
}

export interface WorkspacesService {
  /**
   * All workspaces of the installation, newest first, for operators, also deleted ones. `total` counts them beyond `limit`.
   */
  listAll(filter: { query?: string; limit?: number }): Promise<{ items: ListedWorkspace[]; total: number }>
  /** The caller's workspaces, the one used last first. A key that is bound to workspaces gets only those. */
  list(principal: Principal): Promise<Json<Membership[]>>
  /**
   * The caller becomes its owner. Throws `workspace_creation_disabled`, unless an operator creates it, `name_invalid`,
   * `slug_invalid`, `slug_reserved`, `slug_taken` and `workspace_limit`.
   */
  create(principal: Principal, input: { name: string; slug: string }): Promise<CreatedWorkspace>
  get(principal: Principal, slug: string): Promise<WorkspaceDetail>
  /** The names of the two owners who joined first, for somebody who has to ask one. */
  listOwnerNames(principal: Principal, slug: string): Promise<string[]>
  /**
   * Changes name, slug and allowed domains. The last five former slugs keep working for 90 days. Throws
   * `name_invalid`, `slug_invalid`, `slug_reserved`, `slug_taken`, `domain_invalid`, `domain_public`, `domain_limit`,
   * `domain_not_yours` and `precondition_failed`. With `opened`, changes only what differs from the versions of then, and
   * throws `changed_meanwhile` if one of these has another version now. Returns the slug after the change.
   */
  update(
    principal: ExpectingCall & Pick<LookUpCall, 'onSlugMoved'>,
    slug: string,
    change: WorkspaceChange,
    opened?: FieldVersions,
  ): Promise<{ slug: string }>
  /** Whether a new workspace could take the slug; with `excludeWorkspaceId`, whether that workspace of the caller could. */
  isSlugAvailable(principal: Principal, candidate: string, excludeWorkspaceId?: string): Promise<boolean>
  /** Whether a workspace could take the candidate. Default: its current slug. */
  isSlugAvailableTo(principal: Principal, slug: string, candidate?: string): Promise<boolean>
  /** Sets the icon. Returns its URL. Throws what `PictureStore.replace` throws. */
  uploadIcon(principal: Principal, slug: string, upload: Buffer): Promise<string>
  /** Removes the icon. Idempotent. */
  removeIcon(principal: Principal, slug: string): Promise<void>
}

export interface WorkspacesServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
  entry: EntryRules
}

export function createWorkspacesService(options: WorkspacesServiceOptions): WorkspacesService {
  const { db, clock, changes, requireWorkspace, pictures, entry } = options

  const readMemberships = createBatch(
    (callers: readonly ReachOfCaller[]) =>
      listMembershipsOfUsers(db, { callers, limit: membershipsMax, pictureUrlPrefix: pictures.urlPrefix }),
    ({ userId, workspaceIds }) => [userId, ...(workspaceIds ?? ['all'])].join(),
  )

  async function isFree(
    userId: string,
    candidate: string,
    workspaceId: string | undefined,
  ): Promise<boolean> {
    if (!isSlug(candidate) || isReservedSlug(candidate)) return false
    const holder = await findSlugHolder(db, { slug: candidate, userId, now: clock.now() })
    return holder === undefined || (holder.isMember && holder.workspaceId === workspaceId)
  }

  return {
    async listAll({ query, limit }) {
      const rows = await listWorkspaces(db, { text: parseQuery(query), limit })
      const items = rows.map(({ id, name, slug, memberCount, owners, createdAt, deletedAt }) => ({
        id,
        name,
        slug,
        memberCount,
        owners,
        createdAt: createdAt.toISOString(),
        deletedAt: deletedAt?.toISOString() ?? null,
      }))
      return { items, total: rows[0]?.total ?? 0 }
    },

    async list({ user, restrictions }) {
      const workspaceIds = restrictions?.workspaceIds ?? null
      const { text } = await readMemberships({ userId: user.id, workspaceIds })
      const list = `[${text}]` as Json<Membership[]>
      if (!restrictions || !isBelowOwner(restrictions)) return list
      return toJson(parseJson(list).map((item) => ({ ...item, role: roleWith(restrictions, item.role) })))
    },

    async create(principal, input) {
      const { user, source } = principal
      if (!entry.hasWorkspaceCreation && source !== 'system') throw errors.workspaceCreationDisabled()
      const name = requireName(input.name)
      assertUsableSlug(input.slug)
      const workspace = {
        id: createId(),
        name,
        slug: input.slug,
        creatorUserId: user.id,
      }
      return changes.make(principal, async ({ tx, now, appendEvent }) => {
        await lockUser(tx, user.id)
        if ((await countMembershipsOfUser(tx, user.id)) >= membershipsMax) throw errors.workspaceLimit()
        await insertWorkspace(tx, { ...workspace, createdAt: now })
        await claimSlug(tx, { slug: workspace.slug, workspaceId: workspace.id, now })
        await insertMembership(tx, {
          workspaceId: workspace.id,
          userId: user.id,
          role: 'owner',
          joinedAt: now,
          lastUsedAt: now,
        })
        appendEvent({
          workspaceId: workspace.id,
          type: 'workspace.created',
          data: { workspaceId: workspace.id, name: workspace.name, slug: workspace.slug },
        })
        return workspace
      })
    },

    async get(principal, slug) {
      const workspace = await requireWorkspace(principal, slug, 'workspaces.get')
      const { id: workspaceId, name, slug: currentSlug, iconKey, allowedDomains, role } = workspace
      const iconUrl = pictures.urlOf(iconKey)
      return {
        userId: principal.user.id,
        workspaceId,
        name,
        slug: currentSlug,
        iconUrl,
        allowedDomains,
        role,
      }
    },

    async listOwnerNames(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'members.list')
      return listOwnerNames(db, { workspaceId, limit: 2 })
    },

    async update(principal, slug, change, opened) {
      const name = requireName(change.name)
      assertUsableSlug(change.slug)
      const allowedDomains =
        change.allowedDomains === undefined ? undefined : parseAllowedDomains(change.allowedDomains)
      const workspace = await requireWorkspace(principal, slug, 'workspaces.update')
      const { id } = workspace
      const lock = (tx: Executor) => lockWorkspace(tx, id)
      const given = { name, slug: change.slug, ...(allowedDomains && { allowedDomains }) }
      const result = await changes.makeIn(principal, workspace, lock, async (context, before) => {
        const { tx, now, appendEvent } = context
        assertExpected(principal, versionOfWorkspace(before))
        const { changes: changed, conflicts } = compareEdit<WorkspaceFields>(before, given, opened)
        if (conflicts.length > 0) throw errors.changedMeanwhile()
        const after = { ...before, ...changed }
        assertOwnDomains(
          principal,
          after.allowedDomains.filter((domain) => !before.allowedDomains.includes(domain)),
        )
        principal.onVersion?.(versionOfWorkspace(after))
        if (isSame(before, after)) return { slug: after.slug }
        if (after.slug !== before.slug)
          await moveSlug(tx, { workspaceId: id, from: before.slug, to: after.slug, now })
        await updateWorkspace(tx, id, after)
        appendEvent({
          type: 'workspace.updated',
          data: { workspaceId: id, from: fieldsOf(before), to: fieldsOf(after) },
        })
        return { slug: after.slug }
      })
      principal.onSlugMoved?.(result.slug)
      return result
    },

    isSlugAvailable: ({ user }, candidate, excludeWorkspaceId) =>
      isFree(user.id, candidate, excludeWorkspaceId),

    async isSlugAvailableTo(principal, slug, candidate) {
      const workspace = await requireWorkspace(principal, slug, 'workspaces.slugAvailability')
      return isFree(principal.user.id, candidate ?? workspace.slug, workspace.id)
    },

    async uploadIcon(principal, slug, upload) {
      const { id, name } = await requireWorkspace(principal, slug, 'workspaces.uploadIcon')
      return pictures.replace(principal, upload, async ({ tx, appendEvent }, iconKey) => {
        const before = await replaceWorkspaceIcon(tx, id, iconKey)
        appendEvent({
          workspaceId: id,
          type: 'workspace.icon_changed',
          data: { workspaceId: id, name },
        })
        return before
      })
    },

    async removeIcon(principal, slug) {
      const { id, name } = await requireWorkspace(principal, slug, 'workspaces.removeIcon')
      await pictures.remove(principal, async ({ tx, appendEvent }) => {
        const before = await replaceWorkspaceIcon(tx, id, null)
        if (before !== null)
          appendEvent({
            workspaceId: id,
            type: 'workspace.icon_removed',
            data: { workspaceId: id, name },
          })
        return before
      })
    },
  }
}

async function moveSlug(
  tx: Executor,
  move: { workspaceId: string; from: string; to: string; now: Date },
): Promise<void> {
  const { workspaceId, from, to, now } = move
  await claimSlug(tx, { slug: to, workspaceId, now })
  await keepFormerSlug(tx, { slug: from, workspaceId, keptUntil: new Date(now.getTime() + formerSlugKeptMs) })
  await releaseOldestSlugs(tx, workspaceId, formerSlugsMax)
}

interface WorkspaceFields {
  name: string
  slug: string
  allowedDomains: string[]
}

/** The version of a workspace: of what `update` changes. */
export const versionOfWorkspace = (workspace: WorkspaceFields) =>
  versionOfFields(workspace, ['name', 'slug', 'allowedDomains'])

/** A new workspace as its creator reads it. */
export function toDetail({ id, name, slug, creatorUserId }: CreatedWorkspace): WorkspaceDetail {
  const detail = { userId: creatorUserId, workspaceId: id, name, slug }
  return { ...detail, iconUrl: null, allowedDomains: [], role: 'owner' }
}

function fieldsOf({ name, slug, allowedDomains }: WorkspaceFields): WorkspaceFields {
  return { name, slug, allowedDomains }
}

function isSame(before: WorkspaceFields, after: WorkspaceFields): boolean {
  return JSON.stringify(fieldsOf(before)) === JSON.stringify(fieldsOf(after))
}

/** Requires a verified address at each domain: otherwise anybody could claim the domain of others. */
function assertOwnDomains({ user }: Principal, domains: readonly string[]): void {
  const own = user.emailVerifiedAt === null ? undefined : canonicalDomainOf(user.email)
  if (domains.some((domain) => domain !== own)) throw errors.domainNotYours({ field: 'allowedDomains' })
}

function parseAllowedDomains(text: string): string[] {
  const domains = parseDomains(text)
  const field = 'allowedDomains'
  if (domains.length > allowedDomainsMax) throw errors.domainLimit({ field })
  return domains.map((domain) => {
    if (domain === undefined || isOfServices(domain)) throw errors.domainInvalid({ field })
    if (isPublicMailDomain(domain)) throw errors.domainPublic({ field })
    return domain
  })
}
