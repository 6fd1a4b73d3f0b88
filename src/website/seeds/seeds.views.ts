import type { Seed } from '../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Page as ListPage } from '../../kernel/pagination.ts'
import { seedQueryLengthMax, seedStatuses, type SeedSort, type SeedStatus } from '../../kernel/seeds.ts'
import { renderSelect } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderRows, withQuery, readQuery } from '../components/lists.ts'
import { renderDone } from '../components/notice.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import type { Page } from '../plugins/pages.ts'
import { countOf, renderTime } from '../components/words.ts'
import { renderAgent } from '../views/author.views.ts'
import { renderUndo } from './seed-deletion.views.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

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

/** A column of the board. */
interface Column {
  status: SeedStatus
  page: ListPage<Seed>
}

export const statusNames: Record<SeedStatus, string> = {
  open: 'Open',
  validating: 'Validating',
  validated: 'Validated',
  dropped: 'Dropped',
}

export function renderStatus(status: SeedStatus): Html {
  return html`<span class="tag status-${status}">${statusNames[status]}</span>`
}

/** The list of seeds. */
export function renderSeedList(visit: WorkspaceVisit, search: SeedSearch, list: ListView<Seed>): Page {
  const rows = parseJson(list.items)
  return renderSeeds(visit, search, {
    view: 'list',
    isEmpty: rows.length === 0,
    body: html`${renderNotices([list.isReset && resetNotice])}
    ${renderRows(
      rows.map((seed) => renderSeedRow(visit.base, seed)),
      null,
    )}
    ${renderPager(list, { path: `${visit.base}/seeds`, parameters: parametersOf(search) })}`,
  })
}

/** The seeds in a column for each status. */
export function renderSeedBoard(visit: WorkspaceVisit, search: SeedSearch, columns: Column[]): Page {
  const parsed = columns.map(({ status, page }) => ({
    status,
    seeds: parseJson(page.items),
    hasMore: page.nextCursor !== null,
  }))
  return renderSeeds(
    visit,
    { ...search, status: undefined },
    {
      view: 'board',
      isEmpty: parsed.every(({ seeds }) => seeds.length === 0),
      body: html`<div class="board">
        ${parsed.map(
          ({ status, seeds, hasMore }) =>
            html`<section class="lane" aria-labelledby="lane-${status}">
              <h2 id="lane-${status}">${renderStatus(status)}</h2>
              ${
                seeds.length === 0
                  ? html`<p class="hint">None</p>`
                  : html`<ul>
                      ${seeds.map((seed) => html`<li>${renderCard(visit.base, seed)}</li>`)}
                    </ul>`
              }
              ${
                hasMore &&
                html`<p>
                  <a
                    href="${withQuery(`${visit.base}/seeds`, { ...parametersOf(search), status, view: 'list' })}"
                    >All ${statusNames[status].toLowerCase()} seeds</a
                  >
                </p>`
              }
            </section>`,
        )}
      </div>`,
    },
  )
}

function renderSeeds(
  visit: WorkspaceVisit,
  search: SeedSearch,
  { view, isEmpty, body }: { view: SeedView; isEmpty: boolean; body: Html },
): Page {
  const { base, may, request } = visit
  const isFiltered = search.text !== '' || search.status !== undefined || search.of !== undefined
  // A page may have become empty while the ones before it are not.
  const isFirstPage = readQuery(request, 'cursor') === ''
  const hasNone = isEmpty && !isFiltered && isFirstPage
  return {
    title: 'Seeds',
    section: sectionOf(visit, 'Seeds'),
    body: html`<div class="head">
        <h1>Seeds</h1>
        ${!hasNone && may('seeds.create') && html`<a class="button" href="${base}/seeds/new">New seed</a>`}
      </div>
      ${renderDone(request)} ${renderUndo(request, base)}
      ${
        hasNone
          ? renderIntroduction(visit)
          : html`<div class="tools">
                ${renderFilters(base, search, { view, isFiltered })} ${renderSwitch(base, search, view)}
              </div>
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
    <p><strong>A seed is an early idea that you want to test before you build it.</strong></p>
    <p>
      Write down the problem, who has it and what you believe. People join, add evidence for and against it,
      and you decide together: validated or dropped.
    </p>
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
  return html`<form class="line filters" method="get" action="${base}/seeds" role="search">
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
    ${
      // The columns of the board are the statuses.
      view === 'list' &&
      renderSelect({
        name: 'status',
        label: 'Status',
        value: status ?? '',
        choices: [
          { value: '', label: 'Any' },
          ...seedStatuses.map((value) => ({ value, label: statusNames[value] })),
        ],
      })
    }
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
      value: sort,
      choices: [
        { value: 'updatedAt', label: 'Last change' },
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

/** The query parameters of a search. */
function parametersOf({ text, status, of, sort }: SeedSearch): Record<string, string> {
  return { q: text, status: status ?? '', of: of ?? '', sort: sort === 'updatedAt' ? '' : sort }
}

/** A seed in a list. */
export function renderSeedRow(base: string, seed: Seed): Html {
  return html`<div class="row seed-row">
    <div class="grow">
      <a class="title" href="${base}/seeds/${seed.id}"><bdi>${seed.title}</bdi></a>
      <p class="clip"><bdi>${seed.summary}</bdi></p>
      <span class="hint">${describeSeed(seed)}</span>
    </div>
    ${renderStatus(seed.status)}
  </div>`
}

function renderCard(base: string, seed: Seed): Html {
  return html`<a class="title" href="${base}/seeds/${seed.id}"><bdi>${seed.title}</bdi></a>
    <p class="clip"><bdi>${seed.summary}</bdi></p>
    <p class="hint">${describeSeed(seed)}</p>`
}

function describeSeed({ participantCount, joined, updatedAt, agentName }: Seed): Content {
  const people = participantCount === 0 ? 'Nobody has joined' : countOf(participantCount, 'participant')
  const agent = agentName !== null && html`${renderAgent(agentName)} · `
  return html`${agent}${people}${joined && ' · you joined'} · changed ${renderTime(updatedAt)}`
}
