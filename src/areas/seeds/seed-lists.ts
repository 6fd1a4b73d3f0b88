import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { parseFilterIds } from '../../kernel/filter-ids.ts'
import { isId } from '../../kernel/ids.ts'
import { noRows, readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Role } from '../../domain/roles.ts'
import { deletedSeedsKeptMs, type SeedSort, type SeedStatus } from '../../domain/seeds.ts'
import { normalizeLine } from '../../kernel/text.ts'
import { parseTime } from '../../kernel/times.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import {
  countSeedsByStatus,
  listSeedFaces,
  listSeeds,
  type SeedFace,
  type SeedFilter,
} from './seed-lists.repository.ts'
import type { Seed } from './seeds.schemas.ts'

/** Which seeds are wanted. */
export interface SeedsFilter {
  /** One of them, if there are several. */
  status?: SeedStatus | readonly SeedStatus[]
  /** Each text may have several, separated by commas. Throws `id_limit` for more than 100. */
  ids?: readonly string[]
  leadUserId?: string
  /** Only seeds whose `activityAt` is not before this date or time (RFC 3339). */
  updatedSince?: string
  /** Only seeds with these words, or words that begin with them. */
  q?: string
  createdByUserId?: string
  /** Whether the caller has joined the seeds. */
  joined?: boolean
  /** Only seeds that are deleted and that the caller may restore. */
  deleted?: boolean
}

/** The filters and the order of a list of seeds. */
export interface SeedsRequest extends SeedsFilter, PageRequest {
  /** By default `createdAt`. */
  sort?: SeedSort
}

/** Lists of the seeds of a workspace. */
export interface SeedLists {
  /** The latest first. It can be read backward. */
  list(principal: Principal, slug: string, request: SeedsRequest): Promise<Page<Seed>>
  /** The numbers of seeds by their status. */
  countByStatus(
    principal: Principal,
    slug: string,
    filter: Omit<SeedsFilter, 'status' | 'deleted'>,
  ): Promise<Record<SeedStatus, number>>
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
  /** Which deleted seeds a person may restore. */
  function restorableBy({ user }: Principal, role: Role) {
    const since = new Date(clock.now().getTime() - deletedSeedsKeptMs)
    return { since, ...(!isAllowed(role, 'seeds.deleteOthers') && { creatorId: user.id }) }
  }

  return {
    async list(principal, slug, request) {
      const { deleted = false, sort = 'createdAt' } = request
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'seeds.list')
      const filter = {
        ...toFilter(request),
        ...(deleted && { deleted: restorableBy(principal, role) }),
      }
      const query = { workspaceId, userId: principal.user.id, seedUrlPrefix, filter, sort }
      return readPage<Seed>(request, {
        listId: `seeds.list ${workspaceId} ${identify(filter, sort)}`,
        order: 'newestFirst',
        read: async (range) => (hasNone(filter) ? noRows : listSeeds(db, { ...query, ...range })),
        positionOf: (seed) => ({ at: seed[sort], id: seed.id }),
      })
    },

    async countByStatus(principal, slug, asked) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.list')
      const filter = toFilter(asked)
      const counts = hasNone(filter)
        ? {}
        : await countSeedsByStatus(db, { workspaceId, userId: principal.user.id, filter })
      return { open: 0, validating: 0, validated: 0, dropped: 0, ...counts }
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

type Undefinable<Fields> = { [Name in keyof Fields]: Fields[Name] | undefined }

function toFilter(asked: Undefinable<SeedsFilter>): SeedFilter {
  const { status, ids, q, createdByUserId, leadUserId, updatedSince, joined } = asked
  const text = q === undefined ? undefined : normalizeLine(q) || undefined
  return {
    ...(status !== undefined && {
      statuses: typeof status === 'string' ? [status] : [...new Set(status)].sort(),
    }),
    ...(ids !== undefined && { ids: parseFilterIds(ids, 'ids') }),
    ...(text !== undefined && { text }),
    ...(createdByUserId !== undefined && { createdByUserId }),
    ...(leadUserId !== undefined && { leadUserId }),
    ...(updatedSince !== undefined && { activeSince: parseTime(updatedSince) }),
    ...(joined !== undefined && { joined }),
  }
}

/** The filter and the order of a list, for its cursors. Those of older versions stay valid: what they do not know comes last. */
function identify(filter: SeedFilter, sort: SeedSort): string {
  const { statuses, ids, text, createdByUserId, leadUserId, activeSince, joined, deleted } = filter
  const further = Object.entries({ ids, leadUserId, activeSince }).filter(([, value]) => value !== undefined)
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
function hasNone({ statuses, ids, createdByUserId, leadUserId }: SeedFilter): boolean {
  const isUnknown = (id: string | undefined) => id !== undefined && !isId(id)
  return statuses?.length === 0 || ids?.length === 0 || isUnknown(createdByUserId) || isUnknown(leadUserId)
}
