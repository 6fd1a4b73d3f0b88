import { threadFilters, type ThreadItem } from '../../areas/comments/comments.service.ts'
import type { Evidence } from '../../areas/evidence/evidence.service.ts'
import type { SeedDetails } from '../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { html, type Html } from '../components/html.ts'
import { renderRows, withQuery } from '../components/lists.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../components/pager.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderComment, renderCommentForm, type CommentSubject } from './comments.views.ts'
import { renderBalance } from './evidence-balance.ts'
import { isAboutEvidence, renderEvidenceForm } from './evidence.views.ts'
import { renderPiece } from './evidence-item.views.ts'

export type ThreadFilter = (typeof threadFilters)[number]

/** What the thread of a seed shows. */
export interface ShownThread extends Pick<SeedDetails, 'seed' | 'evidenceCounts' | 'correctableSince'> {
  changesUrl: string
  thread: ListView<ThreadItem>
  only: ThreadFilter | undefined
  /** What the form for a comment is about. */
  about: CommentSubject
}

const filterNames: Record<ThreadFilter, string> = {
  evidence: 'Evidence',
  comments: 'Comments',
  people: 'By people',
  agents: 'By agents',
}

/** The evidence and the comments of a seed, newest first, with the forms that add to them. */
export function renderThread(visit: WorkspaceVisit, shown: ShownThread): Html {
  const { base, may, state } = visit
  const { seed, only, thread, evidenceCounts, about } = shown
  const path = `${base}/seeds/${seed.id}`
  // A form that was refused stays, with what was typed, even if its author has left the seed meanwhile.
  const hasEvidenceForm = may('seeds.addEvidence') && (seed.joined || isAboutEvidence(state))
  return html`<section aria-labelledby="thread">
    <h2 id="thread">Evidence and comments</h2>
    ${renderBalance(evidenceCounts)} ${hasEvidenceForm && renderEvidenceForm(visit, seed)}
    ${may('comments.create') && renderCommentForm(visit, path, about)} ${renderFilter(path, only)}
    ${renderNotices([thread.isReset && resetNotice])}
    <div data-live="${shown.changesUrl}">
      ${renderRows(
        parseJson(thread.items).map((item) => renderItem(visit, shown, item)),
        html`<p>
          ${only === undefined ? 'Nothing yet.' : 'Nothing of this kind yet.'}
          ${
            only === undefined &&
            !hasEvidenceForm &&
            may('seeds.addEvidence') &&
            'Join the seed to add what you find out.'
          }
        </p>`,
      )}
    </div>
    ${renderPager(thread, { path, fragment: 'thread', parameters: { only: only ?? '' } })}
  </section>`
}

function renderItem(visit: WorkspaceVisit, { seed, correctableSince }: ShownThread, item: ThreadItem): Html {
  return isEvidence(item)
    ? renderPiece(visit, item, correctableSince)
    : renderComment(visit, item, `${visit.base}/seeds/${seed.id}`)
}

function isEvidence(item: ThreadItem): item is Evidence {
  return 'verdict' in item
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
