import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { parseAllIds, parseFilterIds } from '../../kernel/filter-ids.ts'
import { isId } from '../../kernel/ids.ts'
import { noRows, readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Role } from '../../domain/roles.ts'
import {
  conditionOfDue,
  deletedSeedsKeptMs,
  dueOf,
  idOfCaller,
  idOfNobody,
  seedStatuses,
  type DatedDue,
  type SeedBalance,
  type SeedDue,
  type SeedSort,
  type SeedStatus,
} from '../../domain/seeds.ts'
import { normalizeLine } from '../../kernel/text.ts'
import { parseTime } from '../../kernel/times.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import {
  countSeedsByStatus,
  listSeedFaces,
  listSeeds,
  orderOfSort,
  timeOfSort,
  type SeedFace,
  type SeedFilter,
} from './seed-lists.repository.ts'
import type { Seed, SeedCount } from './seeds.schemas.ts'

/** Which seeds are wanted. */
export interface SeedsFilter {
  /** One of them, if there are several. */
  status?: SeedStatus | readonly SeedStatus[]
  /** Each text may have several, separated by commas. Throws `id_limit` for more than 100. */
  ids?: readonly string[]
  /** The id of a person, `me` for the caller, or `none` for seeds without a lead. */
  leadUserId?: string
  teamId?: string
  /** All of them; each text may have several, as `ids`. */
  labelIds?: readonly string[]
  /** What their evidence says on balance. */
  balance?: SeedBalance
  /** Only seeds that are not decided and due then, by UTC. */
  due?: SeedDue
  /** Only seeds whose `activityAt` is not before this date or time (RFC 3339). */
  updatedSince?: string
  /** Only seeds with these words, or words that begin with them. */
  q?: string
  /** The id of a person, or `me` for the caller. */
  createdByUserId?: string
  /** Whether the caller has joined the seeds. */
  joined?: boolean
  /** Only seeds that are deleted and that the caller may restore. */
  deleted?: boolean
}

/** Fields that may also be undefined, as those of a query that was not asked. */
export type Undefinable<Fields> = { [Name in keyof Fields]: Fields[Name] | undefined }

/** The filters and the order of a list of seeds. */
export interface SeedsRequest extends SeedsFilter, PageRequest {
  /** By default `createdAt`. */
  sort?: SeedSort
}

/** Lists of the seeds of a workspace. */
export interface SeedLists {
  /** The latest first, unless by the date to decide by. It can be read backward. */
  list(principal: Principal, slug: string, request: SeedsRequest): Promise<Page<Seed>>
  /** How many seeds a list has with these filters. */
  count(principal: Principal, slug: string, filter: Undefinable<SeedsFilter>): Promise<SeedCount>
  /** When a seed is due by its date, by today in UTC; undefined if it is not. */
  dueOf(seed: Pick<Seed, 'status' | 'decideBy'>): DatedDue | undefined
  /** Up to three participants of each of some seeds, its lead first, by the id of the seed. */
  listFaces(principal: Principal, slug: string, seedIds: readonly string[]): Promise<Map<string, SeedFace[]>>
}

export interface SeedListsOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
  pictures: PictureStore
  /** What the URLs of seeds begin with. */
  seedUrlPrefix: string
}

export function createSeedLists({
  db,
  clock,
  requireWorkspace,
  pictures,
  seedUrlPrefix,
}: SeedListsOptions): SeedLists {
  /** What is asked for, with the deleted seeds that the person may restore. */
  function filterOf(asked: Undefinable<SeedsFilter>, { user }: Principal, role: Role): SeedFilter {
    const now = clock.now()
    const since = new Date(now.getTime() - deletedSeedsKeptMs)
    const mayRestoreAll = isAllowed(role, 'seeds.deleteOthers')
    return {
      ...toFilter(asked, { now, userId: user.id }),
      ...(asked.deleted === true && { deleted: { since, ...(!mayRestoreAll && { creatorId: user.id }) } }),
    }
  }

  return {
    async list(principal, slug, request) {
      const { sort = 'createdAt' } = request
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'seeds.list')
      const filter = filterOf(request, principal, role)
      const query = { workspaceId, userId: principal.user.id, seedUrlPrefix, filter, sort }
      return readPage<Seed>(request, {
        listId: `seeds.list ${workspaceId} ${identify(filter, sort)}`,
        order: orderOfSort(sort),
        read: async (range) => (hasNoSeeds(filter) ? noRows : listSeeds(db, { ...query, ...range })),
        positionOf: (seed) => ({ at: timeOfSort(sort, seed), id: seed.id }),
      })
    },

    async count(principal, slug, asked) {
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'seeds.count')
      const filter = filterOf(asked, principal, role)
      const counts = hasNoSeeds(filter)
        ? {}
        : await countSeedsByStatus(db, { workspaceId, userId: principal.user.id, filter })
      const byStatus = { open: 0, validating: 0, validated: 0, dropped: 0, ...counts }
      return { count: seedStatuses.reduce((sum, status) => sum + byStatus[status], 0), byStatus }
    },

    dueOf(seed) {
      return dueOf(seed, clock.now())
    },

    async listFaces(principal, slug, seedIds) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.list')
      const faces = new Map<string, SeedFace[]>(seedIds.map((id) => [id, []]))
      const query = { workspaceId, seedIds, pictureUrlPrefix: pictures.urlPrefix }
      for (const face of await listSeedFaces(db, query)) faces.get(face.seedId)?.push(face)
      return faces
    },
  }
}

/** What other lists ask of the seeds that their items are about. */
export interface AskedOfSeeds extends Pick<SeedsFilter, 'teamId' | 'leadUserId' | 'balance' | 'due'> {
  labelId?: string
}

/** The same as the statements take it; undefined if nothing is asked. */
export function toFilterOfSeeds(
  {
    teamId,
    labelId,
    status,
    leadUserId,
    balance,
    due,
  }: Undefinable<AskedOfSeeds & Pick<SeedsFilter, 'status'>>,
  caller: { now: Date; userId: string },
): SeedFilter | undefined {
  const filter = {
    ...toFilter({ teamId, status, leadUserId, balance, due }, caller),
    ...(labelId !== undefined && { labelIds: [labelId] }),
  }
  return Object.keys(filter).length === 0 ? undefined : filter
}

function toFilter(
  asked: Undefinable<SeedsFilter>,
  { now, userId }: { now: Date; userId: string },
): SeedFilter {
  const { status, ids, q, createdByUserId, leadUserId, due, updatedSince, joined } = asked
  const { teamId, labelIds, balance } = asked
  const idOf = (id: string) => (id === idOfCaller ? userId : id)
  const text = q === undefined ? undefined : normalizeLine(q) || undefined
  return {
    ...(status !== undefined && {
      statuses: typeof status === 'string' ? [status] : [...new Set(status)].sort(),
    }),
    ...(ids !== undefined && { ids: parseFilterIds(ids, 'ids') }),
    ...(text !== undefined && { text }),
    ...(createdByUserId !== undefined && { createdByUserId: idOf(createdByUserId) }),
    ...(leadUserId !== undefined && { leadUserId: leadUserId === idOfNobody ? null : idOf(leadUserId) }),
    ...(teamId !== undefined && { teamId }),
    ...(labelIds !== undefined && { labelIds: parseAllIds(labelIds, 'labelIds') }),
    ...(balance !== undefined && { balance }),
    ...(due !== undefined && { due: { when: due, ...conditionOfDue(due, now) } }),
    ...(updatedSince !== undefined && { activeSince: parseTime(updatedSince) }),
    ...(joined !== undefined && { joined }),
  }
}

/** The filter and the order of a list, for its cursors. Those of older versions stay valid: what they do not know comes last. */
function identify(filter: SeedFilter, sort: SeedSort): string {
  const { statuses, text, createdByUserId, joined, deleted, ids, leadUserId, activeSince, due, ...others } =
    filter
  const known = { ids, leadUserId, activeSince, due: due?.when, ...others }
  const further = Object.entries(known).filter(([, value]) => value !== undefined)
  return JSON.stringify([
    statuses?.join(),
    text?.toLowerCase(),
    createdByUserId,
    joined,
    sort,
    ...(deleted ? ['deleted'] : []),
    ...further,
  ])
}

/** Whether no seed can match: a malformed id belongs to nobody. */
export function hasNoSeeds({
  statuses,
  ids,
  labelIds = [],
  createdByUserId,
  leadUserId,
  teamId,
}: SeedFilter): boolean {
  const isUnknown = (id: string | null | undefined) => id != null && !isId(id)
  if (statuses?.length === 0 || ids?.length === 0) return true
  return [createdByUserId, leadUserId, teamId, ...labelIds].some(isUnknown)
}
