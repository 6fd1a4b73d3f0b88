import type { RequireWorkspace } from '../../../access/workspace-access.ts'
import type { Database } from '../../../db/client.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { noRows, readPage, type Page, type PageRequest } from '../../../kernel/pagination.ts'
import type { Principal } from '../../../domain/principal.ts'
import { searchKinds, searchKindsOfSeeds, type SearchKind, type SearchMatch } from '../../../domain/search.ts'
import type { SeedStatus } from '../../../domain/seeds.ts'
import { normalizeLine } from '../../../kernel/text.ts'
import { hasNoSeeds, toFilterOfSeeds, type AskedOfSeeds } from '../../seeds/seed-lists.ts'
import { countFound, search, searchRanks } from './search.repository.ts'
import type { SearchCounts, SearchResult } from './search.schemas.ts'

export type { SearchCounts, SearchResult }

/** What is looked for: all words of `q`, in things of these kinds, separated by commas. */
export interface SearchRequest extends PageRequest, AskedOfSeeds {
  q: string
  kinds?: string
  /** By default, `exact`. */
  match?: SearchMatch
  /** With this, or one of those of seeds, only such seeds are found, with their evidence and comments. */
  status?: SeedStatus
}

/** The search of a workspace. */
export interface SearchService {
  /** Best first. */
  search(principal: Principal, slug: string, request: SearchRequest): Promise<Page<SearchResult>>
  /** The numbers of what `search` finds, by kind, each up to `searchCountMax`. */
  count(principal: Principal, slug: string, q: string): Promise<SearchCounts>
}

export interface SearchServiceOptions {
  db: Database
  clock: Clock
  requireWorkspace: RequireWorkspace
}

export function createSearchService({ db, clock, requireWorkspace }: SearchServiceOptions): SearchService {
  return {
    async search(principal, slug, request) {
      const {
        q,
        kinds,
        match = 'exact',
        teamId,
        labelId,
        status,
        leadUserId,
        balance,
        due,
        ...page
      } = request
      const workspace = await requireWorkspace(principal, slug, 'workspaces.search')
      const words = normalizeLine(q)
      const asked = { teamId, labelId, status, leadUserId, balance, due }
      const filters = Object.entries(asked).filter(([, value]) => value !== undefined)
      const filter = toFilterOfSeeds(asked, { now: clock.now(), userId: principal.user.id })
      const possible: readonly SearchKind[] = filter ? searchKindsOfSeeds : searchKinds
      const chosen = possible.filter((kind) => kinds?.split(',').includes(kind) ?? true)
      const query = {
        workspaceId: workspace.id,
        asked: words,
        kinds: chosen,
        match,
        filter,
        pathPrefix: `/w/${workspace.slug}`,
      }
      let ranks: string[] = []
      return readPage<SearchResult, (typeof searchRanks)[number]>(page, {
        listId: `workspaces.search ${workspace.id} ${JSON.stringify([words, chosen, ...(match === 'exact' ? [] : [match]), ...filters])}`,
        order: 'newestFirst',
        parts: searchRanks,
        async read(range, rank) {
          if (words === '' || chosen.length === 0 || (filter && hasNoSeeds(filter))) return noRows
          const found = await search(db, { ...query, ...range, rank })
          ranks = found.ranks.split(',')
          return found
        },
        positionOf({ id }, index) {
          const [rank, milliseconds] = String(ranks[index]).split(' ')
          return {
            part: rank as (typeof searchRanks)[number],
            at: new Date(Number(milliseconds)).toISOString(),
            id,
          }
        },
      })
    },

    async count(principal, slug, q) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'workspaces.searchCounts')
      const { seed, evidence, comment, person, team } = await countFound(db, {
        workspaceId,
        asked: normalizeLine(q),
      })
      return { seeds: seed, evidence, comments: comment, people: person, teams: team }
    },
  }
}
