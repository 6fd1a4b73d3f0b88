import type { Changes } from '../../access/change.ts'
import { isAllowed } from '../../access/permissions.ts'
import type { AccessibleWorkspace, RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { noSeedFilters, savedFiltersMax, type SavedSeedFilters } from '../../domain/saved-filters.ts'
import { idOfCaller, idOfNobody, seedQueryLengthMax, type SeedStatus } from '../../domain/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { parseAllIds } from '../../kernel/filter-ids.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { normalizeLine, requireLabel, requireLine } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import type { Undefinable } from '../seeds/seed-lists.ts'
import { lockWorkspace } from '../workspaces/workspaces.repository.ts'
import {
  countFilters,
  countNamedIds,
  deleteFilter,
  findFilter,
  insertFilter,
  listAllFilters,
  listFilterChoices,
  listFilters,
  lockFilter,
  updateFilter,
  type FilterChoices,
} from './savedFilters.repository.ts'
import type { SavedFilter } from './savedFilters.schemas.ts'

export type { FilterChoices, SavedFilter }

/** A saved filter and its workspace. Methods throw `not_found` for one that the caller does not see. */
export interface FilterPath {
  slug: string
  filterId: string
}

/** Filters as they are given: of ids, each text may have several. What is absent or null is not asked for. */
export type GivenFilters = {
  [Name in Exclude<keyof SavedSeedFilters, 'status'>]?: SavedSeedFilters[Name] | undefined
} & { status?: SeedStatus | SeedStatus[] | null | undefined }

/** What a saved filter is made of. */
export interface SavedFilterInput {
  name: string
  shared: boolean
  filters: GivenFilters
}

/** Filters of lists of seeds that are saved by a name. */
export interface SavedFiltersService {
  /** The caller's own and the shared ones, oldest first. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<SavedFilter>>
  /** All of them, by their names. One round trip. */
  listAll(principal: Principal, slug: string): Promise<SavedFilter[]>
  /** What the caller can filter seeds by: teams, labels and saved filters. One round trip. */
  listChoices(principal: Principal, slug: string): Promise<FilterChoices>
  get(principal: Principal, path: FilterPath): Promise<SavedFilter>
  /**
   * Throws `label_invalid`, `text_invalid`, `id_limit`, `saved_filter_name_taken`, `saved_filter_limit`, and `not_found` for
   * filters with ids that the workspace does not have.
   */
  create(principal: Principal, slug: string, input: SavedFilterInput): Promise<SavedFilter>
  /** Throws what `create` throws, `not_the_author` and `precondition_failed`. */
  update(
    principal: ExpectingCall,
    path: FilterPath,
    input: Undefinable<Partial<SavedFilterInput>>,
  ): Promise<void>
  /** Returns its name. */
  delete(principal: Principal, path: FilterPath): Promise<string>
}

/** The version of a saved filter: of what people change in it. */
export const versionOfSavedFilter = ({
  name,
  shared,
  filters,
}: Pick<SavedFilter, 'name' | 'shared' | 'filters'>) => versionOfFields({ name, shared, ...filters })

export interface SavedFiltersServiceOptions {
  db: Database
  changes: Changes
  requireWorkspace: RequireWorkspace
}

export function createSavedFiltersService(options: SavedFiltersServiceOptions): SavedFiltersService {
  const { db, changes, requireWorkspace } = options

  /** Throws `not_found` unless the workspace has everything that filters name. */
  async function assertNamed(workspaceId: string, filters: Partial<SavedSeedFilters>): Promise<void> {
    const { teamId, labelIds, ids, createdByUserId, leadUserId } = filters
    const people = [createdByUserId, leadUserId].filter((id) => id !== idOfCaller && id !== idOfNobody)
    const named = {
      teamIds: [teamId ?? []].flat(),
      labelIds: labelIds ?? [],
      seedIds: ids ?? [],
      userIds: [...new Set(people.flatMap((id) => id ?? []))],
    }
    const all = Object.values(named).flat()
    if (all.length === 0) return
    if (!all.every(isId) || (await countNamedIds(db, { workspaceId, ...named })) < all.length)
      throw errors.notFound()
  }

  return {
    async list(principal, slug, page) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'savedFilters.list')
      const userId = principal.user.id
      return readPage<SavedFilter>(page, {
        listId: `savedFilters.list ${workspaceId}`,
        order: 'oldestFirst',
        read: (range) => listFilters(db, { workspaceId, userId, ...range }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async listAll(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'savedFilters.list')
      return listAllFilters(db, { workspaceId, userId: principal.user.id })
    },

    async listChoices(principal, slug) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'savedFilters.list')
      return listFilterChoices(db, { workspaceId, userId: principal.user.id })
    },

    async get(principal, { slug, filterId }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'savedFilters.get')
      const userId = principal.user.id
      const filter = isId(filterId) ? await findFilter(db, { workspaceId, userId, filterId }) : undefined
      if (!filter) throw errors.notFound()
      const { createdAt, updatedAt, ...rest } = filter
      return { ...rest, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
    },

    async create(principal, slug, { shared, ...input }) {
      const workspace = await requireWorkspace(principal, slug, 'savedFilters.create')
      if (shared && !isAllowed(workspace.role, 'savedFilters.share')) throw errors.roleInsufficient()
      const { id: workspaceId } = workspace
      const userId = principal.user.id
      const name = requireLabel(input.name)
      const filters = parseFilters(input.filters)
      await assertNamed(workspaceId, filters)
      const row = { id: createId(), workspaceId, name, filters, ...ownersOf(shared, userId) }
      // Two at once do not both save the last one that there may be.
      const lock = (tx: Executor) => lockWorkspace(tx, workspaceId)
      return changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }) => {
        await assertRoom(tx, row)
        await insertFilter(tx, { ...row, createdAt: now, updatedAt: now })
        if (shared)
          appendEvent({ type: 'saved_filter.created', data: { filterId: row.id, filterName: name } })
        const at = now.toISOString()
        return {
          ...{ id: row.id, workspaceId, name, shared, createdByUserId: userId },
          ...{ filters: { ...noSeedFilters, ...filters }, createdAt: at, updatedAt: at },
        }
      })
    },

    async update(principal, { slug, filterId }, input) {
      const name = input.name === undefined ? undefined : requireLabel(input.name)
      const filters = input.filters && parseFilters(input.filters)
      const workspace = await requireWorkspace(principal, slug, 'savedFilters.update')
      if (!isId(filterId)) throw errors.notFound()
      const { id: workspaceId } = workspace
      const userId = principal.user.id
      if (filters) await assertNamed(workspaceId, filters)
      const lock = async (tx: Executor) => {
        // Serializes renames: two that swap names would deadlock on the unique indexes.
        await lockWorkspace(tx, workspaceId)
        return lockFilter(tx, { workspaceId, userId, filterId })
      }
      await changes.makeIn(principal, workspace, lock, async ({ tx, now, appendEvent }, before) => {
        assertMayChange(workspace, userId, before)
        assertExpected(principal, versionOfSavedFilter(before))
        const after = {
          name: name ?? before.name,
          shared: input.shared ?? before.shared,
          filters: filters ? { ...noSeedFilters, ...filters } : before.filters,
        }
        principal.onVersion?.(versionOfSavedFilter(after))
        if (versionOfSavedFilter(after) === versionOfSavedFilter(before)) return
        if (after.shared !== before.shared) {
          if (before.createdByUserId !== userId) throw errors.notTheAuthor()
          if (!isAllowed(workspace.role, 'savedFilters.share')) throw errors.roleInsufficient()
          await assertRoom(tx, { workspaceId, ...ownersOf(after.shared, userId) })
        }
        await updateFilter(tx, filterId, {
          name: after.name,
          ...(filters && { filters }),
          ...(after.shared !== before.shared && ownersOf(after.shared, userId)),
          updatedAt: now,
        })
        // Nobody else learns of what is not shared.
        if (after.shared && before.shared) {
          const filtersChanged = versionOfFields(after.filters) !== versionOfFields(before.filters)
          appendEvent({
            type: 'saved_filter.updated',
            data: { filterId, from: before.name, to: after.name, filtersChanged },
          })
        } else if (after.shared)
          appendEvent({ type: 'saved_filter.created', data: { filterId, filterName: after.name } })
        else if (before.shared)
          appendEvent({ type: 'saved_filter.deleted', data: { filterId, filterName: before.name } })
      })
    },

    async delete(principal, { slug, filterId }) {
      const workspace = await requireWorkspace(principal, slug, 'savedFilters.delete')
      if (!isId(filterId)) throw errors.notFound()
      const userId = principal.user.id
      const lock = (tx: Executor) => lockFilter(tx, { workspaceId: workspace.id, userId, filterId })
      return changes.makeIn(principal, workspace, lock, async ({ tx, appendEvent }, filter) => {
        assertMayChange(workspace, userId, filter)
        await deleteFilter(tx, filterId)
        if (filter.shared)
          appendEvent({ type: 'saved_filter.deleted', data: { filterId, filterName: filter.name } })
        return filter.name
      })
    },
  }
}

/** The columns that say whose a saved filter is. */
const ownersOf = (shared: boolean, userId: string) => ({
  ownerUserId: shared ? null : userId,
  sharedByUserId: shared ? userId : null,
})

/** Throws `saved_filter_limit`. The workspace is locked. */
async function assertRoom(tx: Executor, of: { workspaceId: string; ownerUserId: string | null }) {
  if ((await countFilters(tx, of)) >= savedFiltersMax) throw errors.savedFilterLimit()
}

/** Throws `role_insufficient` for a shared one that the person may not change. */
function assertMayChange(
  { role }: AccessibleWorkspace,
  userId: string,
  { shared, createdByUserId }: Pick<SavedFilter, 'shared' | 'createdByUserId'>,
): void {
  const isOwn = createdByUserId === userId
  if (!shared || isAllowed(role, 'savedFilters.changeShared')) return
  if (!isOwn || !isAllowed(role, 'savedFilters.share')) throw errors.roleInsufficient()
}

/** Filters as they are stored, without those that are not asked for. Throws `text_invalid` and `id_limit`. */
function parseFilters({ status, q, ids, labelIds, ...rest }: GivenFilters): Partial<SavedSeedFilters> {
  const text = normalizeLine(q ?? '')
  const parsed = {
    ...rest,
    status: status == null ? null : [...new Set([status].flat())].toSorted(),
    q: text === '' ? null : requireLine(text, seedQueryLengthMax, 'filters'),
    ids: ids == null ? null : parseAllIds(ids, 'ids'),
    labelIds: labelIds == null ? null : parseAllIds(labelIds, 'labelIds'),
  }
  const isAsked = (value: unknown) => value != null && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(parsed).filter(([, value]) => isAsked(value)))
}
