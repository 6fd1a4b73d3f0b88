import { threadFilters, type Comment, type ThreadItem } from '../../../areas/comments/comments.service.ts'
import type { SeedDetails } from '../../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import { html, type Html } from '../../components/html.ts'
import { renderRows, withQuery } from '../../components/lists.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../../components/pager.ts'
import { renderComment, renderCommentForm, whyNoComments, type ThreadVisit } from './comments.views.ts'
import { renderBalance } from './evidence-balance.ts'
import { renderEvidenceForm } from './evidence.views.ts'
import { renderPiece } from './evidence-item.views.ts'

export type ThreadFilter = (typeof threadFilters)[number]

/** What the thread of a seed shows. */
export interface ShownThread extends Pick<SeedDetails, 'seed' | 'evidenceCounts' | 'correctableSince'> {
  changesUrl: string
  thread: ListView<ThreadItem>
  only: ThreadFilter | undefined
  /** The comment that the form begins with as a quote. */
  quoted: Comment | undefined
}

const filterNames: Record<ThreadFilter, string> = {
  evidence: 'Evidence',
  comments: 'Comments',
  people: 'By people',
  agents: 'By agents',
}

const pagerLabels = { first: 'The latest', previous: 'Later', next: 'Earlier' }

/**
 * The evidence and the comments of a seed, the latest of them, oldest first as everywhere, with the forms that add to them
 * below.
 */
export function renderThread(visit: ThreadVisit, shown: ShownThread): Html {
  const { base, may } = visit
  const { seed, only, thread, evidenceCounts, quoted } = shown
  const path = `${base}/seeds/${seed.id}`
  return html`<section aria-labelledby="thread">
    <h2 id="thread">Evidence and comments</h2>
    <div id="balance" data-live>${renderBalance(evidenceCounts)}</div>
    ${renderFilter(path, only)} ${renderNotices([thread.isReset && resetNotice])}
    ${renderPager(thread, { path, fragment: 'thread', parameters: { only: only ?? '' }, labels: pagerLabels })}
    <div id="items" data-live="${shown.changesUrl}">
      ${renderRows(
        parseJson(thread.items)
          .reverse()
          .map((item) => renderItem(visit, shown, item)),
        html`<p>${only === undefined ? 'Nothing yet.' : 'Nothing of this kind yet.'}</p>`,
      )}
    </div>
    ${renderEvidenceForm(visit, seed)}
    ${may('comments.create') ? renderCommentForm(visit, path, quoted) : whyNoComments}
  </section>`
}

function renderItem(visit: ThreadVisit, { correctableSince }: ShownThread, item: ThreadItem): Html {
  return 'verdict' in item ? renderPiece(visit, item, { correctableSince }) : renderComment(visit, item)
}

function renderFilter(path: string, current: ThreadFilter | undefined): Html {
  const choices = [undefined, ...threadFilters]
  return html`<nav class="tabs" aria-label="Show">
    ${choices.map(
      (only) =>
        html`<a
          href="${withQuery(path, { only: only ?? '' })}#thread"
          ${only === current && html`aria-current="true"`}
          >${only === undefined ? 'All' : filterNames[only]}</a
        >`,
    )}
  </nav>`
}
