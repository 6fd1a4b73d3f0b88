import type { RequireWorkspace } from '../../../access/workspace-access.ts'
import type { Database } from '../../../db/client.ts'
import { noRows, readPage, type Page, type PageRequest } from '../../../kernel/pagination.ts'
import type { Principal } from '../../../domain/principal.ts'
import { searchKinds, type SearchMatch } from '../../../domain/search.ts'
import { normalizeLine } from '../../../kernel/text.ts'
import { countFound, search, searchRanks } from './search.repository.ts'
import type { SearchCounts, SearchResult } from './search.schemas.ts'

export type { SearchCounts, SearchResult }

/** What is looked for: all words of `q`, in things of these kinds, separated by commas. */
export interface SearchRequest extends PageRequest {
  q: string
  kinds?: string
  /** By default, `exact`. */
  match?: SearchMatch
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
  requireWorkspace: RequireWorkspace
}

export function createSearchService({ db, requireWorkspace }: SearchServiceOptions): SearchService {
  return {
    async search(principal, slug, { q, kinds, match = 'exact', ...page }) {
      const workspace = await requireWorkspace(principal, slug, 'workspaces.search')
      const asked = normalizeLine(q)
      const chosen = searchKinds.filter((kind) => kinds?.split(',').includes(kind) ?? true)
      const query = {
        workspaceId: workspace.id,
        asked,
        kinds: chosen,
        match,
        pathPrefix: `/w/${workspace.slug}`,
      }
      let ranks: string[] = []
      return readPage<SearchResult, (typeof searchRanks)[number]>(page, {
        listId: `workspaces.search ${workspace.id} ${JSON.stringify([asked, chosen, ...(match === 'exact' ? [] : [match])])}`,
        order: 'newestFirst',
        parts: searchRanks,
        async read(range, rank) {
          if (asked === '') return noRows
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
