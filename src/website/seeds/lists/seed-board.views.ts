import type { Seed } from '../../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import type { Page as ListPage } from '../../../kernel/pagination.ts'
import { seedStatuses, type SeedStatus } from '../../../domain/seeds.ts'
import { renderForm } from '../../components/forms.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { readQuery, withQuery } from '../../components/lists.ts'
import { excerptOf } from '../../components/markdown.ts'
import type { Page } from '../../plugins/pages.ts'
import type { WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { describeSeed, renderFaces, type DueOf, type SeedFaces } from './seed-rows.views.ts'
import { parametersOf, type SeedSearch } from './seed-search.ts'
import { renderLabels, type SeedFilterChoices } from './seed-sorting.views.ts'
import { renderDue, renderStatus, statusNames } from '../seed-status.views.ts'
import { renderSeeds, type SeedCounts } from './seeds.views.ts'

/** How many seeds a lane has at first, how many more each time, and at most: the list has all. */
const laneSeeds = { first: 20, more: 40, max: 180 }

/** The query parameter with the number of seeds in a lane. */
const nameOfLength = (status: SeedStatus) => `lane-${status}`

/** How many seeds the address asks for in a lane. */
export function readLaneLength(request: { query: unknown }, status: SeedStatus): number {
  const { first, more, max } = laneSeeds
  const steps = Math.ceil((Number(readQuery(request, nameOfLength(status))) - first) / more)
  return Number.isFinite(steps) && steps > 0 ? Math.min(first + steps * more, max) : first
}

/** The columns of the board with their first seeds. */
export interface Board {
  changesUrl: string
  columns: { status: SeedStatus; length: number; page: ListPage<Seed> }[]
  counts: SeedCounts
  faces: SeedFaces
  dueOf: DueOf
  isNewcomer: boolean
  choices: SeedFilterChoices
}

/**
 * The seeds in a column for each status. Each card has a menu that moves it, without a script too; public/board.js also
 * lets cards be dragged. All cards are in one form, so that there is one CSRF token.
 */
export function renderSeedBoard(visit: WorkspaceVisit, asked: SeedSearch, board: Board): Page {
  const { base, may, request } = visit
  const search = { ...asked, statuses: [] }
  const lengths = Object.fromEntries(
    board.columns.map(({ status, length }) => [
      nameOfLength(status),
      length === laneSeeds.first ? '' : String(length),
    ]),
  )
  const lanes = board.columns.map(({ status, length, page }) => ({
    ...{ status, length },
    count: board.counts[status],
    seeds: parseJson(page.items),
    hasMore: page.nextCursor !== null,
  }))
  const renderMore = (status: SeedStatus, length: number, count: number): Html => {
    const kind = `${statusNames[status].toLowerCase()} seeds`
    if (length >= laneSeeds.max)
      return html`<a
        href="${withQuery(`${base}/seeds`, { ...parametersOf({ ...search, statuses: [status] }), view: 'list' })}"
        >All ${count} ${kind}</a
      >`
    const longer = { ...lengths, [nameOfLength(status)]: String(length + laneSeeds.more) }
    return html`<a
      data-more
      href="${withQuery(`${base}/seeds`, { ...parametersOf(search), view: 'board', ...longer })}#lane-${status}"
      >Show more<span class="visually-hidden"> ${kind}</span></a
    >`
  }
  const body = html`<div class="board" data-live="${board.changesUrl}">
    ${lanes.map(
      ({ status, length, seeds, count, hasMore }) =>
        html`<section class="lane" aria-labelledby="lane-${status}" data-status="${status}">
          <h2 id="lane-${status}">${renderStatus(status)} <span class="hint">${count}</span></h2>
          ${seeds.length === 0 && html`<p class="hint">None</p>`}
          <ul>
            ${seeds.map(
              (seed) =>
                html`<li id="card-${seed.id}" ${may('seeds.update') && html`data-movable`}>
                  ${renderCard(visit, seed, board)}
                </li>`,
            )}
          </ul>
          ${hasMore && html`<p>${renderMore(status, length, count)}</p>`}
        </section>`,
    )}
  </div>`
  return renderSeeds(visit, search, {
    view: 'board',
    counts: board.counts,
    isNewcomer: board.isNewcomer,
    choices: board.choices,
    isEmpty: lanes.every(({ seeds }) => seeds.length === 0),
    body: may('seeds.update')
      ? renderForm({ request, action: `${base}/seeds?view=board`, className: 'whole', body })
      : body,
  })
}

function renderCard(
  { base, may }: WorkspaceVisit,
  seed: Seed,
  { faces, dueOf }: Pick<Board, 'faces' | 'dueOf'>,
): Content {
  const due = renderDue(seed.decideBy, dueOf(seed))
  return html`<a class="title" href="${base}/seeds/${seed.id}" draggable="false"><bdi>${seed.title}</bdi></a>
    <p class="clip"><bdi>${excerptOf(seed.summary)}</bdi></p>
    ${due && html`<p>${due}</p>`} ${renderLabels(base, seed)}
    <div class="foot">
      <p class="hint">${describeSeed(seed)}</p>
      ${renderFaces(faces.get(seed.id))} ${may('seeds.update') && renderMoves(base, seed)}
    </div>`
}

/** Where a card can be moved. The status that it is moved from tells whether somebody else has moved it meanwhile. */
function renderMoves(base: string, { id, title, status }: Seed): Html {
  return html`<details class="reveal move" name="menu">
    <summary>
      Move<span class="visually-hidden"> <bdi>${title}</bdi></span>
    </summary>
    <div class="choices">
      ${seedStatuses
        .filter((other) => other !== status)
        .map(
          (other) =>
            html`<button
              class="small"
              name="status"
              value="${other}"
              formaction="${base}/seeds/${id}/move?from=${status}"
            >
              ${statusNames[other]}
            </button>`,
        )}
    </div>
  </details>`
}
