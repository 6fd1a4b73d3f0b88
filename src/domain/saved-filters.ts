import type { SeedBalance, SeedDue, SeedSort, SeedStatus } from './seeds.ts'

/** The most saved filters of a person in a workspace, and the most that a workspace shares. */
export const savedFiltersMax = 50

/** What a saved filter can ask of a list of seeds: as `seeds.list`. What is null is not asked for. */
export interface SavedSeedFilters {
  status: SeedStatus[] | null
  ids: string[] | null
  q: string | null
  createdByUserId: string | null
  leadUserId: string | null
  balance: SeedBalance | null
  teamId: string | null
  labelIds: string[] | null
  due: SeedDue | null
  updatedSince: string | null
  joined: boolean | null
  sort: SeedSort | null
}

/** Asks for nothing: all seeds. */
export const noSeedFilters: SavedSeedFilters = {
  status: null,
  ids: null,
  q: null,
  createdByUserId: null,
  leadUserId: null,
  balance: null,
  teamId: null,
  labelIds: null,
  due: null,
  updatedSince: null,
  joined: null,
  sort: null,
}
