import type { SavedFilter } from '../../areas/savedFilters/savedFilters.service.ts'
import type { SearchCounts, SearchResult } from '../../areas/workspaces/search/search.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import {
  searchCountMax,
  searchFewResults,
  searchKinds,
  searchKindsOfSeeds,
  type SearchKind,
} from '../../domain/search.ts'
import { seedStatuses, type SeedStatus } from '../../domain/seeds.ts'
import type { Services } from '../../services/services.ts'
import { renderSelect } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { readOneOf, readQuery, withQuery } from '../components/lists.ts'
import { excerptOf } from '../components/markdown.ts'
import { readListView, renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import type { Page } from '../plugins/pages.ts'
import { markWords } from './mark-words.ts'
import { readSearch, renderSearchForm } from '../views/search-form.views.ts'
import { pathOfFilter, sortFilters } from '../seeds/lists/saved-filters.views.ts'
import { readStates, toAskedOfSeeds, type SeedParameters } from '../seeds/lists/seed-filters.ts'
import { renderBalanceFilter, renderDueFilter, renderLeadFilter } from '../seeds/lists/seed-filters.views.ts'
import {
  readFilterChoices,
  renderSortingFilters,
  type SeedSorting,
} from '../seeds/lists/seed-sorting.views.ts'
import { statusNames } from '../seeds/seed-status.views.ts'
import { listPaletteActions } from './palette-actions.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

const perPage = 25
// Of each kind, for the palette. What is not among the first results of all is not among the first of its kind.
const resultsMax = 200
const ofKindMax = 6
const latestMax = 8
const workspacesMax = 6
const filtersMax = 6
const similarMax = 10

/** What each kind is called, alone and as several. */
const kindNames: Record<SearchKind, { one: string; many: string; count: keyof SearchCounts }> = {
  seed: { one: 'Seed', many: 'Seeds', count: 'seeds' },
  evidence: { one: 'Evidence', many: 'Evidence', count: 'evidence' },
  comment: { one: 'Comment', many: 'Comments', count: 'comments' },
  person: { one: 'Person', many: 'People', count: 'people' },
  team: { one: 'Team', many: 'Teams', count: 'teams' },
}

/** Something that the search found. public/palette.js reads it. */
interface Result {
  label: string
  /** What tells it from others with the same label; empty for pages. */
  detail: string
  href: string
}

interface ResultGroup {
  name: string
  results: Result[]
}

type SearchServices = Pick<Services, 'savedFilters' | 'search' | 'seeds' | 'workspaces'>

/** The search of a workspace: a page, and results as JSON for the command palette. */
export function searchPages({ page, data }: WorkspacePages, services: SearchServices): void {
  page('/search', async (visit) => {
    const q = readSearch(visit.request)
    if (q === '') return renderSearch(visit, { q, body: false })
    const { search } = services
    const { principal, request, workspace } = visit
    const kind = readOneOf(request, 'kind', searchKinds)
    const filter = readFilter(visit)
    const asked = { q, kind, filter }
    const choices = readFilterChoices(services, visit)
    const listSaved = async () => (await choices).savedFilters
    const [list, counts, elsewhere, sorting] = await Promise.all([
      readListView(request, (position) =>
        search.search(principal, workspace.slug, {
          ...position,
          ...toRequest(asked),
          limit: perPage,
        }),
      ),
      search.count(principal, workspace.slug, q),
      kind === undefined && !isFilter(filter) ? findElsewhere(visit, q, { ...services, listSaved }) : [],
      choices,
    ])
    const isFew = parseJson(list.items).length < searchFewResults && readQuery(request, 'cursor') === ''
    const similar = isFew ? await findSimilar(visit, asked, services) : []
    const found = { ...asked, list, counts, elsewhere, similar, sorting }
    return renderSearch(visit, { q, filter, body: renderFound(visit, found) })
  })

  data('/search/results', async (visit) => {
    const q = readSearch(visit.request)
    const [found, actions, elsewhere] = await Promise.all([
      q === '' ? findLatest(visit, services) : findGroups(visit, q, services),
      listPaletteActions(visit, services),
      findElsewhere(visit, q, {
        ...services,
        listSaved: () => services.savedFilters.listAll(visit.principal, visit.workspace.slug),
      }),
    ])
    const matching = actions.filter(({ label }) => containsWords(label, q))
    const groups = [...found, { name: 'Actions', results: matching }, ...elsewhere]
    return { groups: groups.filter(({ results }) => results.length > 0) }
  })
}

/** The seeds that changed last. */
async function findLatest(
  { base, principal, workspace }: WorkspaceVisit,
  { seeds }: SearchServices,
): Promise<ResultGroup[]> {
  const latest = await seeds.list(principal, workspace.slug, { sort: 'updatedAt', limit: latestMax })
  const results = parseJson(latest.items).map(({ id, title, status }) => ({
    label: title,
    detail: statusNames[status],
    href: `${base}/seeds/${id}`,
  }))
  return results.length === 0 ? [] : [{ name: 'Seeds', results }]
}

/** The best results of each kind, with a link to all of it if there are more. */
async function findGroups(
  visit: WorkspaceVisit,
  q: string,
  services: SearchServices,
): Promise<ResultGroup[]> {
  const { base, principal, workspace } = visit
  const { search } = services
  const [found, counts] = await Promise.all([
    search.search(principal, workspace.slug, { q, limit: resultsMax }),
    search.count(principal, workspace.slug, q),
  ])
  const all = parseJson(found.items)
  const similar = all.length < searchFewResults ? await findSimilar(visit, { q }, services) : []
  const groups = searchKinds.flatMap((kind) => {
    const { many, count } = kindNames[kind]
    if (counts[count] === 0) return []
    const results = all
      .filter((result) => result.kind === kind)
      .slice(0, ofKindMax)
      .map(toResult)
    const isAll = counts[count] <= results.length
    const href = withQuery(`${base}/search`, { q, kind })
    const label = `All ${describeCount(counts[count])} ${kind === 'evidence' ? 'pieces of evidence' : many.toLowerCase()}`
    return [{ name: many, results: isAll ? results : [...results, { label, detail: '', href }] }]
  })
  return [...groups, { name: 'Similar', results: similar.slice(0, ofKindMax).map(toResult) }]
}

/** What almost matches, for a text of which little was found. */
async function findSimilar(
  { principal, workspace }: WorkspaceVisit,
  asked: Asked,
  { search }: Pick<SearchServices, 'search'>,
): Promise<SearchResult[]> {
  const found = await search.search(principal, workspace.slug, {
    ...toRequest(asked),
    ...{ match: 'similar', limit: similarMax },
  })
  return parseJson(found.items)
}

/** Which seeds are wanted, as the URL has it. */
interface Filter extends SeedParameters {
  status: SeedStatus | ''
}

interface Asked {
  q: string
  /** The only kind that is shown, if one was chosen. */
  kind?: SearchKind | undefined
  filter?: Filter
}

function readFilter({ request }: WorkspaceVisit): Filter {
  return {
    ...{ team: readQuery(request, 'team'), label: readQuery(request, 'label') },
    ...{ status: readOneOf(request, 'status', seedStatuses) ?? '', ...readStates(request) },
  }
}

const isFilter = (filter: Filter) => Object.values(filter).some((value) => value !== '')

function toRequest({ q, kind, filter }: Asked) {
  return {
    q,
    ...(kind !== undefined && { kinds: kind }),
    ...(filter && toAskedOfSeeds(filter)),
    ...(filter && filter.status !== '' && { status: filter.status }),
  }
}

function toResult({ title, excerpt, path }: SearchResult): Result {
  return { label: title, detail: excerptOf(excerpt ?? ''), href: path }
}

/** The saved filters, the pages and the other workspaces that match a text. */
async function findElsewhere(
  visit: WorkspaceVisit,
  q: string,
  {
    workspaces,
    listSaved,
  }: Pick<SearchServices, 'workspaces'> & { listSaved: () => Promise<readonly SavedFilter[]> },
): Promise<ResultGroup[]> {
  const { base, principal, workspace } = visit
  const [ofPerson, saved] = await Promise.all([workspaces.list(principal).then(parseJson), listSaved()])
  const groups: ResultGroup[] = [
    {
      name: 'Saved filters',
      results: sortFilters(saved)
        .filter(({ name }) => containsWords(name, q))
        .slice(0, filtersMax)
        .map((filter) => ({
          label: filter.name,
          detail: filter.shared ? 'Shared' : 'Yours',
          href: pathOfFilter(base, filter),
        })),
    },
    { name: 'Pages', results: listPages(visit).filter(({ label }) => containsWords(label, q)) },
    {
      name: 'Workspaces',
      results: ofPerson
        .filter((other) => other.slug !== workspace.slug && containsWords(other.name, q))
        .slice(0, workspacesMax)
        .map((other) => ({ label: other.name, detail: other.slug, href: `/w/${other.slug}` })),
    },
  ]
  return groups.filter(({ results }) => results.length > 0)
}

/** Whether a text contains all words of another one, ignoring case. */
function containsWords(text: string, words: string): boolean {
  const lower = text.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word))
}

/** A count of matches, which ends at `searchCountMax`. */
function describeCount(count: number): string {
  const number = count.toLocaleString('en')
  return count < searchCountMax ? number : `${number}+`
}

/** The pages that the person may open from anywhere. */
function listPages(visit: WorkspaceVisit): Result[] {
  const { links, tabs = [] } = sectionOf(visit, 'People')
  const pages = [
    ...links,
    ...tabs.filter(({ isCurrent }) => !isCurrent),
    { label: 'Your notifications', href: '/notifications' },
    { label: 'Your profile', href: '/settings/profile' },
    { label: 'Your security', href: '/settings/security' },
  ]
  return pages.map(({ label, href }) => ({ label, detail: '', href }))
}

function renderSearch(
  visit: WorkspaceVisit,
  { q, filter, body }: { q: string; filter?: Filter; body: Content },
): Page {
  return {
    title: q === '' ? 'Search' : `Search for ${q}`,
    section: sectionOf(visit, 'Search'),
    body: html`<h1>Search</h1>
      ${renderSearchForm({
        path: `${visit.base}/search`,
        label: 'Search seeds, evidence, comments and people',
        value: q,
        ...(filter && { kept: { ...filter } }),
      })}
      ${body}`,
  }
}

interface Found extends Asked {
  filter: Filter
  sorting: SeedSorting
  list: ListView<SearchResult>
  counts: SearchCounts
  elsewhere: ResultGroup[]
  /** What almost matches. */
  similar: SearchResult[]
}

function renderFound(visit: WorkspaceVisit, asked: Found): Content {
  const { q, kind, filter, list, counts, elsewhere, similar } = asked
  const isFiltered = isFilter(filter)
  const results = parseJson(list.items)
  const path = `${visit.base}/search`
  const isEmpty = results.length === 0 && similar.length === 0 && elsewhere.length === 0
  // The counts are of what is found without a filter.
  const kinds = isFiltered ? searchKindsOfSeeds : searchKinds
  const found = kinds.filter((one) => counts[kindNames[one].count] > 0 || one === kind)
  return html`${renderFilters(path, asked)}
  ${
    found.length > 0 &&
    html`<nav class="segments" aria-label="What was found">
      <a href="${withQuery(path, { q, ...filter })}" ${kind === undefined && html`aria-current="true"`}
        >All</a
      >
      ${found.map(
        (one) =>
          html`<a
            href="${withQuery(path, { q, kind: one, ...filter })}"
            ${one === kind && html`aria-current="true"`}
            >${kindNames[one].many}
            ${!isFiltered && html`<span class="hint">${describeCount(counts[kindNames[one].count])}</span>`}</a
          >`,
      )}
    </nav>`
  }
  ${renderNotices([list.isReset && resetNotice])}
  ${
    results.length > 0 &&
    html`<ul class="rows">
      ${results.map((result) => html`<li>${renderResult(result, asked)}</li>`)}
    </ul>`
  }
  ${renderPager(list, { path, parameters: { q, kind: kind ?? '', ...filter } })}
  ${
    similar.length > 0 &&
    html`<section>
      <p role="status">${results.length === 0 ? 'No exact match. Similar:' : 'Similar:'}</p>
      <ul class="rows">
        ${similar.map((result) => html`<li>${renderResult(result, asked)}</li>`)}
      </ul>
    </section>`
  }
  ${elsewhere.map(renderGroup)}
  ${isEmpty && html`<p role="status">Nothing matches “<bdi>${q}</bdi>”${isFiltered && ' with these filters'}, and nothing is similar.</p>`}`
}

/** The filters by what seeds are, which act at once. */
function renderFilters(path: string, { q, kind, filter, sorting }: Found): Html {
  const { team, label, status, lead, due, balance } = filter
  return html`<form class="line filters" action="${path}" data-instant>
    <input type="hidden" name="q" value="${q}" />
    ${kind !== undefined && html`<input type="hidden" name="kind" value="${kind}" />`}
    ${renderSelect({
      name: 'status',
      label: 'Status of the seed',
      value: status,
      choices: [
        { value: '', label: 'Any status' },
        ...seedStatuses.map((value) => ({ value, label: statusNames[value] })),
      ],
    })}
    ${renderLeadFilter(lead)} ${renderDueFilter(due)} ${renderSortingFilters(sorting, { team, label })}
    ${renderBalanceFilter(balance)}
    <button class="quiet">Apply</button>
    ${isFilter(filter) && html`<a class="button quiet" href="${withQuery(path, { q, kind: kind ?? '' })}">Clear filters</a>`}
  </form>`
}

function renderResult(
  { kind, title, excerpt, path }: SearchResult,
  { q, kind: only }: Pick<Asked, 'q' | 'kind'>,
): Html {
  return html`<a class="title" href="${path}"><bdi>${markWords(title, q)}</bdi></a>
    ${only === undefined && html`<span class="hint">${kindNames[kind].one}</span>`}
    ${excerpt !== null && html`<p class="hint"><bdi>${markWords(excerptOf(excerpt), q)}</bdi></p>`}`
}

function renderGroup({ name, results }: ResultGroup): Html {
  const id = name.toLowerCase().replaceAll(' ', '-')
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${name}</h2>
    <ul class="rows">
      ${results.map(
        ({ label, detail, href }) =>
          html`<li>
            <a class="title" href="${href}"><bdi>${label}</bdi></a> <span class="hint">${detail}</span>
          </li>`,
      )}
    </ul>
  </section>`
}
