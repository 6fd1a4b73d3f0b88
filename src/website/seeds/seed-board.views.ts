import type { Seed } from '../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Page as ListPage } from '../../kernel/pagination.ts'
import { seedStatuses, type SeedStatus } from '../../domain/seeds.ts'
import { renderForm } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { withQuery } from '../components/lists.ts'
import { excerptOf } from '../components/markdown.ts'
import type { Page } from '../plugins/pages.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { describeSeed, renderFaces, type SeedFaces } from './seed-rows.views.ts'
import { renderStatus, statusNames } from './seed-status.views.ts'
import { parametersOf, renderSeeds, type SeedCounts, type SeedSearch } from './seeds.views.ts'

/** The columns of the board with their first seeds. */
export interface Board {
  changesUrl: string
  columns: { status: SeedStatus; page: ListPage<Seed> }[]
  counts: SeedCounts
  faces: SeedFaces
  isNewcomer: boolean
}

/**
 * The seeds in a column for each status. Each card has a menu that moves it, without a script too; public/board.js also
 * lets cards be dragged. All cards are in one form, so that there is one CSRF token.
 */
export function renderSeedBoard(visit: WorkspaceVisit, asked: SeedSearch, board: Board): Page {
  const { base, may, request } = visit
  const search = { ...asked, status: undefined }
  const lanes = board.columns.map(({ status, page }) => ({
    status,
    count: board.counts[status],
    seeds: parseJson(page.items),
    hasMore: page.nextCursor !== null,
  }))
  const body = html`<div class="board" data-live="${board.changesUrl}">
    ${lanes.map(
      ({ status, seeds, count, hasMore }) =>
        html`<section class="lane" aria-labelledby="lane-${status}" data-status="${status}">
          <h2 id="lane-${status}">${renderStatus(status)} <span class="hint">${count}</span></h2>
          ${seeds.length === 0 && html`<p class="hint">None</p>`}
          <ul>
            ${seeds.map(
              (seed) =>
                html`<li id="card-${seed.id}" ${may('seeds.update') && html`data-movable`}>
                  ${renderCard(visit, seed, board.faces)}
                </li>`,
            )}
          </ul>
          ${
            hasMore &&
            html`<p>
              <a
                href="${withQuery(`${base}/seeds`, { ...parametersOf({ ...search, status }), view: 'list' })}"
                >All ${count} ${statusNames[status].toLowerCase()} seeds</a
              >
            </p>`
          }
        </section>`,
    )}
  </div>`
  return renderSeeds(visit, search, {
    view: 'board',
    counts: board.counts,
    isNewcomer: board.isNewcomer,
    isEmpty: lanes.every(({ seeds }) => seeds.length === 0),
    body: may('seeds.update')
      ? renderForm({ request, action: `${base}/seeds?view=board`, className: 'whole', body })
      : body,
  })
}

function renderCard({ base, may }: WorkspaceVisit, seed: Seed, faces: SeedFaces): Content {
  return html`<a class="title" href="${base}/seeds/${seed.id}" draggable="false"><bdi>${seed.title}</bdi></a>
    <p class="clip"><bdi>${excerptOf(seed.summary)}</bdi></p>
    <p class="hint">${describeSeed(seed, { isCard: true })}</p>
    <div class="foot">
      ${renderFaces(faces.get(seed.id))} ${may('seeds.update') && renderMoves(base, seed)}
    </div>`
}

/** Where a card can be moved. The status that it is moved from tells whether somebody else has moved it meanwhile. */
function renderMoves(base: string, { id, title, status }: Seed): Html {
  return html`<details class="reveal" name="menu">
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
