import type { Seed } from '../../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import { seedQueryLengthMax, seedStatuses, type SeedStatus } from '../../../domain/seeds.ts'
import { renderSelect } from '../../components/forms.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { renderRows, withQuery, readQuery } from '../../components/lists.ts'
import { renderDone } from '../../components/notice.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../../components/pager.ts'
import { countOf } from '../../components/words.ts'
import type { Page } from '../../plugins/pages.ts'
import { renderSavedFilters } from './saved-filters.views.ts'
import { renderBalanceFilter, renderDueFilter } from './seed-filters.views.ts'
import { renderUndo } from '../seed-deletion.views.ts'
import { renderTableLinks } from './seed-tables.views.ts'
import { renderSeedRow, type DueOf, type SeedFaces } from './seed-rows.views.ts'
import { isFilter, parametersOf, pathOfSearch, type SeedSearch } from './seed-search.ts'
import { renderSortingFilters, type SeedFilterChoices } from './seed-sorting.views.ts'
import { statusNames } from '../seed-status.views.ts'
import { sectionOf, type WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { howSeedsGo, whatIsSeed } from '../seed-words.ts'

/** How the seeds of a workspace can be shown. */
export const seedViews = ['list', 'board'] as const

export type SeedView = (typeof seedViews)[number]

/** The numbers of seeds that match a search without its status. */
export type SeedCounts = Record<SeedStatus, number>

/** The list of seeds. */
export function renderSeedList(
  visit: WorkspaceVisit,
  search: SeedSearch,
  shown: {
    list: ListView<Seed>
    /** Of the first page, which follows what happens. */
    changesUrl: string | undefined
    faces: SeedFaces
    dueOf: DueOf
    isNewcomer: boolean
    counts: SeedCounts
    choices: SeedFilterChoices
  },
): Page {
  const { list, changesUrl, faces, dueOf, isNewcomer, counts, choices } = shown
  const rows = parseJson(list.items)
  return renderSeeds(visit, search, {
    view: 'list',
    changesUrl,
    counts,
    isNewcomer,
    choices,
    isEmpty: rows.length === 0,
    body: html`${renderNotices([list.isReset && resetNotice])}
    ${renderRows(
      rows.map((seed) => renderSeedRow(visit.base, seed, { dueOf, faces })),
      null,
    )}
    ${renderPager(list, { path: `${visit.base}/seeds`, parameters: parametersOf(search) })}`,
  })
}

/** The page of seeds around a list or a board. */
export function renderSeeds(
  visit: WorkspaceVisit,
  search: SeedSearch,
  shown: {
    view: SeedView
    /** Where the changes of what is below the filters are reported, if it has no part that follows them. */
    changesUrl?: string | undefined
    isEmpty: boolean
    isNewcomer: boolean
    counts: SeedCounts
    choices: SeedFilterChoices
    body: Html
  },
): Page {
  const { base, may, request } = visit
  const { view, changesUrl, isEmpty, isNewcomer, counts, choices, body } = shown
  const isFiltered = isFilter(search)
  // A page may have become empty while the ones before it are not.
  const isFirstPage = readQuery(request, 'cursor') === ''
  const hasNone = isEmpty && !isFiltered && isFirstPage
  return {
    title: 'Seeds',
    section: sectionOf(visit, 'Seeds'),
    hasBoard: view === 'board',
    isLive: view === 'board' || changesUrl !== undefined,
    body: html`<div class="head">
        <h1>Seeds</h1>
        ${!hasNone && may('seeds.create') && html`<a class="button" href="${base}/seeds/new">New seed</a>`}
      </div>
      ${!hasNone && isNewcomer && html`<p class="lead">${whatIsSeed} <a href="/help">More</a></p>`}
      ${renderDone(request)} ${renderUndo(request, base)}
      ${
        hasNone
          ? renderIntroduction(visit)
          : html`<div class="tools">
                ${renderFilters(base, search, { view, isFiltered, choices })}
                ${renderSwitch(base, search, view)}
              </div>
              ${renderSavedFilters(visit, search, choices.savedFilters)}
              <div class="stack" id="found" ${changesUrl !== undefined && html`data-live="${changesUrl}"`}>
                ${view === 'list' && renderStatuses(base, search, counts)} ${renderFurther(search)}
                ${isFiltered && !isEmpty && renderMatches(search, counts)}
                ${isEmpty ? renderNone(base, isFiltered) : body}
              </div>`
      }
      <p class="hint">
        ${renderTableLinks(visit, parametersOf({ ...search, sort: 'updatedAt' }))} ·
        <a href="${base}/labels">Labels</a>
        ${may('seeds.restore') && html` · <a href="${base}/seeds/deleted">Deleted seeds</a>`}
      </p>`,
  }
}

function renderNone(base: string, isFiltered: boolean): Html {
  return html`<div class="empty">
    <p>${isFiltered ? 'No seed matches these filters.' : 'No seeds are left on this page.'}</p>
    ${isFiltered && html`<p><a href="${base}/seeds">Clear the filters</a></p>`}
  </div>`
}

/** Says what a seed is, to people who have none. */
function renderIntroduction({ base, may }: WorkspaceVisit): Html {
  return html`<div class="empty">
    <p><strong>${whatIsSeed}</strong></p>
    <p>${howSeedsGo}</p>
    ${
      may('seeds.create')
        ? html`<p><a class="button" href="${base}/seeds/new">Create the first seed</a></p>`
        : html`<p>There are no seeds yet. Members can create one.</p>`
    }
  </div>`
}

function renderFilters(
  base: string,
  { text, statuses, of, due, balance, sort, team, label, further }: SeedSearch,
  { view, isFiltered, choices }: { view: SeedView; isFiltered: boolean; choices: SeedFilterChoices },
): Html {
  return html`<form class="line filters" method="get" action="${base}/seeds" role="search" data-instant>
    <div class="field">
      <label for="q">Search</label>
      <input
        id="q"
        name="q"
        type="search"
        value="${text}"
        maxlength="${seedQueryLengthMax}"
        autocomplete="off"
      />
    </div>
    ${Object.entries({ ...further, status: view === 'list' ? statuses.join() : '' }).map(
      ([name, value]) => value !== '' && html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    ${renderSelect({
      name: 'of',
      label: 'People',
      value: of ?? '',
      choices: [
        { value: '', label: 'All seeds' },
        { value: 'mine', label: 'Created by me' },
        { value: 'joined', label: 'Joined by me' },
        { value: 'led', label: 'Led by me' },
        { value: 'unled', label: 'Without a lead' },
      ],
    })}
    ${renderDueFilter(due ?? '')} ${renderSortingFilters(choices, { team, label })}
    ${renderBalanceFilter(balance ?? '')}
    ${renderSelect({
      name: 'sort',
      label: 'Sort by',
      value: sort === 'updatedAt' ? '' : sort,
      choices: [
        { value: '', label: 'Last change' },
        { value: 'createdAt', label: 'Newest' },
        { value: 'decideBy', label: 'Date to decide by' },
      ],
    })}
    <button class="quiet">Apply</button>
    ${isFiltered && html`<a class="button quiet" href="${base}/seeds">Clear</a>`}
  </form>`
}

/** The switch between list and board. It keeps the filters. */
function renderSwitch(base: string, search: SeedSearch, current: SeedView): Html {
  const names = { list: 'List', board: 'Board' }
  return html`<nav class="segments" aria-label="View">
    ${seedViews.map(
      (view) =>
        html`<a
          href="${withQuery(`${base}/seeds`, { ...parametersOf(search), view })}"
          ${view === current && html`aria-current="true"`}
          >${names[view]}</a
        >`,
    )}
  </nav>`
}

/** The statuses with the numbers of their seeds. */
function renderStatuses(base: string, search: SeedSearch, counts: SeedCounts): Html {
  const link = (statuses: readonly SeedStatus[], label: string, count: number) =>
    html`<a
      href="${pathOfSearch(base, { ...search, statuses })}"
      ${statuses.join() === search.statuses.join() && html`aria-current="true"`}
      >${label} <span class="hint">${count}</span></a
    >`
  return html`<nav class="tabs" aria-label="Status">
    ${link([], 'All', sumOf(counts))}
    ${seedStatuses.map((status) => link([status], statusNames[status], counts[status]))}
  </nav>`
}

const furtherNames = {
  createdByUserId: 'who created them',
  leadUserId: 'who leads them',
  joined: 'whether you joined them',
  ids: 'a choice of seeds',
  updatedSince: 'when they changed',
}

/** What else a saved filter asks for than the choices show. */
function renderFurther({ further }: SeedSearch): Content {
  const names = Object.keys(further).map((name) => furtherNames[name as keyof typeof further])
  return names.length > 0 && html`<p class="hint">Also filtered by ${names.join(', ')}</p>`
}

/** How many seeds match a search. */
function renderMatches({ statuses }: SeedSearch, counts: SeedCounts): Html {
  const shown = statuses.length === 0 ? seedStatuses : statuses
  const count = shown.reduce((sum, status) => sum + counts[status], 0)
  return html`<p class="hint">${countOf(count, 'seed matches', 'seeds match')}</p>`
}

const sumOf = (counts: SeedCounts) => seedStatuses.reduce((sum, status) => sum + counts[status], 0)
