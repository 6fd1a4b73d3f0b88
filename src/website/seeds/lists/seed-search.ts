import type { GivenFilters } from '../../../areas/savedFilters/savedFilters.service.ts'
import type { SavedSeedFilters } from '../../../domain/saved-filters.ts'
import {
  idOfCaller,
  idOfNobody,
  seedBalances,
  seedDues,
  seedQueryLengthMax,
  seedSorts,
  seedStatuses,
  type SeedBalance,
  type SeedDue,
  type SeedSort,
  type SeedStatus,
} from '../../../domain/seeds.ts'
import { readOneOf, readQuery, withQuery } from '../../components/lists.ts'
import { readSearch } from '../../views/search-form.views.ts'

/** Whose seeds are shown, if not all. */
const seedChoices = ['mine', 'joined', 'led', 'unled'] as const
type SeedChoice = (typeof seedChoices)[number]

/** What saved filters can ask, and the page has no choice for: their names in the API are those of the query. */
const furtherNames = ['createdByUserId', 'leadUserId', 'joined', 'ids', 'updatedSince'] as const
type FurtherFilters = Partial<Record<(typeof furtherNames)[number], string>>

/** What the page of seeds was asked for. */
export interface SeedSearch {
  text: string
  /** One of these; empty for all. */
  statuses: readonly SeedStatus[]
  of: SeedChoice | undefined
  due: SeedDue | undefined
  balance: SeedBalance | undefined
  sort: SeedSort
  /** The ids of a team and of a label; of several labels, separated by commas. */
  team: string | undefined
  label: string | undefined
  further: FurtherFilters
}

const filterOfChoice = {
  mine: { createdByUserId: idOfCaller },
  joined: { joined: true },
  led: { leadUserId: idOfCaller },
  unled: { leadUserId: idOfNobody },
}

/** What the query asks of the list. Unknown words count as none. */
export function readSeedSearch(request: { query: unknown }): SeedSearch {
  const asked = readQuery(request, 'status').split(',')
  const further = furtherNames
    .map((name) => [name, readQuery(request, name)] as const)
    .filter(([name, value]) => isFurther(name, value))
  return {
    text: readSearch(request, { maxLength: seedQueryLengthMax }),
    statuses: seedStatuses.filter((status) => asked.includes(status)),
    of: readOneOf(request, 'of', seedChoices),
    due: readOneOf(request, 'due', seedDues),
    balance: readOneOf(request, 'balance', seedBalances),
    sort: readOneOf(request, 'sort', seedSorts) ?? 'updatedAt',
    team: readQuery(request, 'team') || undefined,
    label: readQuery(request, 'label') || undefined,
    further: Object.fromEntries(further),
  }
}

function isFurther(name: keyof FurtherFilters, value: string): boolean {
  if (name === 'joined') return value === 'true' || value === 'false'
  if (name === 'updatedSince') return /^[1-9]\d{3}-/.test(value) && !Number.isNaN(Date.parse(value))
  return value !== ''
}

/** The filter of a list for a search, without the status. */
export function toFilter({ text, of, due, balance, team, label, further }: SeedSearch) {
  const { joined, ids, ...others } = further
  return {
    ...(text !== '' && { q: text }),
    ...(due !== undefined && { due }),
    ...(balance !== undefined && { balance }),
    ...(team !== undefined && { teamId: team }),
    ...(label !== undefined && { labelIds: [label] }),
    ...(of !== undefined && filterOfChoice[of]),
    ...others,
    ...(joined !== undefined && { joined: joined === 'true' }),
    ...(ids !== undefined && { ids: [ids] }),
  }
}

/** The statuses of a search, for a list. */
export const statusOf = ({ statuses }: SeedSearch) => (statuses.length > 0 ? { status: [...statuses] } : {})

/** What is saved of a search. */
export function toSaved(search: SeedSearch): GivenFilters {
  return {
    ...toFilter(search),
    ...statusOf(search),
    ...(search.sort !== 'updatedAt' && { sort: search.sort }),
  }
}

/** The search of saved filters. */
export function fromSaved(filters: SavedSeedFilters): SeedSearch {
  const { status, q, balance, due, sort, teamId, labelIds, ids, joined, ...others } = filters
  const asked = { ...others, joined, ids: ids?.join() ?? null }
  const of = seedChoices.find((choice) =>
    Object.entries(filterOfChoice[choice]).every(([name, value]) => filters[name as 'joined'] === value),
  )
  const inChoice = of === undefined ? {} : filterOfChoice[of]
  const further = furtherNames.flatMap((name) => {
    const value = asked[name]
    return value === null || name in inChoice ? [] : [[name, String(value)] as const]
  })
  return {
    text: q ?? '',
    statuses: seedStatuses.filter((one) => status?.includes(one)),
    of,
    due: due ?? undefined,
    balance: balance ?? undefined,
    sort: sort ?? 'updatedAt',
    team: teamId ?? undefined,
    label: labelIds?.join() || undefined,
    further: Object.fromEntries(further),
  }
}

/** Whether a search leaves out any seed. */
export function isFilter({ text, statuses, of, due, balance, team, label, further }: SeedSearch): boolean {
  const isChosen = [of, due, balance, team, label].some((choice) => choice !== undefined)
  return text !== '' || statuses.length > 0 || isChosen || Object.keys(further).length > 0
}

/** The query parameters of a search. */
export function parametersOf(search: SeedSearch): Record<string, string> {
  const { text, statuses, of, due, balance, sort, team, label, further } = search
  return {
    q: text,
    status: statuses.join(),
    of: of ?? '',
    due: due ?? '',
    balance: balance ?? '',
    team: team ?? '',
    label: label ?? '',
    sort: sort === 'updatedAt' ? '' : sort,
    ...further,
  }
}

/** The path of the seeds that a search finds. */
export function pathOfSearch(base: string, search: SeedSearch): string {
  return withQuery(`${base}/seeds`, parametersOf(search))
}
