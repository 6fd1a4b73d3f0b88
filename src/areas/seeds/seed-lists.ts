import { isAllowed } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { noRows, readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Role } from '../../domain/roles.ts'
import { deletedSeedsKeptMs, type SeedSort, type SeedStatus } from '../../domain/seeds.ts'
import { normalizeLine } from '../../kernel/text.ts'
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
  status?: SeedStatus
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
}

export function createSeedLists({ db, clock, requireWorkspace, pictures }: SeedListsOptions): SeedLists {
  /** Which deleted seeds a person may restore. */
  function restorableBy({ user }: Principal, role: Role) {
    const since = new Date(clock.now().getTime() - deletedSeedsKeptMs)
    return { since, ...(!isAllowed(role, 'seeds.deleteOthers') && { creatorId: user.id }) }
  }

  return {
    async list(principal, slug, request) {
      const { status, q, createdByUserId, joined, deleted = false, sort = 'createdAt', ...page } = request
      const { id: workspaceId, role } = await requireWorkspace(principal, slug, 'seeds.list')
      const filter = {
        ...toFilter({ status, q, createdByUserId, joined }),
        ...(deleted && { deleted: restorableBy(principal, role) }),
      }
      const query = { workspaceId, userId: principal.user.id, filter, sort }
      return readPage<Seed>(page, {
        listId: `seeds.list ${workspaceId} ${JSON.stringify([status, filter.text?.toLowerCase(), createdByUserId, joined, sort, ...(deleted ? ['deleted'] : [])])}`,
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

function toFilter({ status, q, createdByUserId, joined }: Undefinable<SeedsFilter>): SeedFilter {
  const text = q === undefined ? undefined : normalizeLine(q) || undefined
  return {
    ...(status !== undefined && { status }),
    ...(text !== undefined && { text }),
    ...(createdByUserId !== undefined && { createdByUserId }),
    ...(joined !== undefined && { joined }),
  }
}

/** Whether no seed can match: a malformed id belongs to nobody. */
function hasNone({ createdByUserId }: SeedFilter): boolean {
  return createdByUserId !== undefined && !isId(createdByUserId)
}
