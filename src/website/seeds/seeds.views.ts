import type { Seed } from '../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { seedQueryLengthMax, seedStatuses, type SeedSort, type SeedStatus } from '../../domain/seeds.ts'
import { renderSelect } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import { renderRows, withQuery, readQuery } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import type { Page } from '../plugins/pages.ts'
import { renderUndo } from './seed-deletion.views.ts'
import { renderSeedRow, type SeedFaces } from './seed-rows.views.ts'
import { statusNames } from './seed-status.views.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { howSeedsGo, whatIsSeed } from './seed-words.ts'

/** How the seeds of a workspace can be shown. */
export const seedViews = ['list', 'board'] as const

export type SeedView = (typeof seedViews)[number]

/** Whose seeds are shown, if not all. */
export const seedChoices = ['mine', 'joined'] as const

/** What the page of seeds was asked for. */
export interface SeedSearch {
  text: string
  status: SeedStatus | undefined
  of: (typeof seedChoices)[number] | undefined
  sort: SeedSort
}

/** The numbers of seeds that match a search without its status. */
export type SeedCounts = Record<SeedStatus, number>

/** The list of seeds. */
export function renderSeedList(
  visit: WorkspaceVisit,
  search: SeedSearch,
  shown: { list: ListView<Seed>; faces: SeedFaces; isNewcomer: boolean; counts: SeedCounts },
): Page {
  const { list, faces, isNewcomer, counts } = shown
  const rows = parseJson(list.items)
  return renderSeeds(visit, search, {
    view: 'list',
    counts,
    isNewcomer,
    isEmpty: rows.length === 0,
    body: html`${renderNotices([list.isReset && resetNotice])}
    ${renderRows(
      rows.map((seed) => renderSeedRow(visit.base, seed, faces)),
      null,
    )}
    ${renderPager(list, { path: `${visit.base}/seeds`, parameters: parametersOf(search) })}`,
  })
}

/** The page of seeds around a list or a board. */
export function renderSeeds(
  visit: WorkspaceVisit,
  search: SeedSearch,
  shown: { view: SeedView; isEmpty: boolean; isNewcomer: boolean; counts: SeedCounts; body: Html },
): Page {
  const { base, may, request } = visit
  const { view, isEmpty, isNewcomer, counts, body } = shown
  const isFiltered = search.text !== '' || search.status !== undefined || search.of !== undefined
  // A page may have become empty while the ones before it are not.
  const isFirstPage = readQuery(request, 'cursor') === ''
  const hasNone = isEmpty && !isFiltered && isFirstPage
  return {
    title: 'Seeds',
    section: sectionOf(visit, 'Seeds'),
    hasBoard: view === 'board',
    isLive: view === 'board',
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
                ${renderFilters(base, search, { view, isFiltered })} ${renderSwitch(base, search, view)}
              </div>
              ${view === 'list' && renderStatuses(base, search, counts)}
              ${
                isEmpty
                  ? html`<div class="empty">
                      <p>
                        ${isFiltered ? 'No seed matches these filters.' : 'No seeds are left on this page.'}
                      </p>
                      ${isFiltered && html`<p><a href="${base}/seeds">Clear the filters</a></p>`}
                    </div>`
                  : body
              }`
      }
      ${may('seeds.restore') && html`<p class="hint"><a href="${base}/seeds/deleted">Deleted seeds</a></p>`}`,
  }
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
  { text, status, of, sort }: SeedSearch,
  { view, isFiltered }: { view: SeedView; isFiltered: boolean },
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
    ${view === 'list' && status !== undefined && html`<input type="hidden" name="status" value="${status}" />`}
    ${renderSelect({
      name: 'of',
      label: 'People',
      value: of ?? '',
      choices: [
        { value: '', label: 'All seeds' },
        { value: 'mine', label: 'Created by me' },
        { value: 'joined', label: 'Joined by me' },
      ],
    })}
    ${renderSelect({
      name: 'sort',
      label: 'Sort by',
      value: sort === 'updatedAt' ? '' : sort,
      choices: [
        { value: '', label: 'Last change' },
        { value: 'createdAt', label: 'Newest' },
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
  const all = seedStatuses.reduce((sum, status) => sum + counts[status], 0)
  const link = (status: SeedStatus | undefined, label: string, count: number) =>
    html`<a
      href="${withQuery(`${base}/seeds`, parametersOf({ ...search, status }))}"
      ${status === search.status && html`aria-current="true"`}
      >${label} <span class="hint">${count}</span></a
    >`
  return html`<nav class="tabs" aria-label="Status">
    ${link(undefined, 'All', all)}
    ${seedStatuses.map((status) => link(status, statusNames[status], counts[status]))}
  </nav>`
}

/** The query parameters of a search. */
export function parametersOf({ text, status, of, sort }: SeedSearch): Record<string, string> {
  return { q: text, status: status ?? '', of: of ?? '', sort: sort === 'updatedAt' ? '' : sort }
}
