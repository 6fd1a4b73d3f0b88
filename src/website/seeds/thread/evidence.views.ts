import type { Seed, SeedDetails } from '../../../areas/seeds/seeds.service.ts'
import { isClosed } from '../../../domain/seeds.ts'
import type { Comment, ShownEvidence, WithPicture } from '../../../areas/comments/comments.service.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import { emptyForm, renderForm, type FormState } from '../../components/forms.ts'
import { renderRows } from '../../components/lists.ts'
import { renderDone } from '../../components/notice.ts'
import { renderNotices, renderPager, resetNotice, type ListView } from '../../components/pager.ts'
import type { Page } from '../../plugins/pages.ts'
import { html, type Content } from '../../components/html.ts'
import { sectionOf, type WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { renderComment, renderCommentForm, whyNoComments, type ThreadVisit } from './comments.views.ts'
import { pathOfPiece, renderPiece } from './evidence-item.views.ts'
import { evidenceFormFields, renderEvidenceFields } from './evidence-form.views.ts'

/** Whether the form that adds evidence was refused, and not another one of the page. */
function isAboutEvidence(state: FormState): boolean {
  return state.values.verdict !== undefined
}

const evidenceFormId = 'add-evidence'

/** Who has not joined cannot join a seed that is validated or dropped. */
const isOpenTo = ({ may }: WorkspaceVisit, seed: Seed) =>
  may('seeds.addEvidence') && (seed.joined || !isClosed(seed.status))

/** The link at the head of a seed's page to the form that adds evidence, which public/site.js opens. */
export function renderEvidenceLink(visit: WorkspaceVisit, seed: Seed): Content {
  if (!isOpenTo(visit, seed)) return false
  return html`<a class="button" href="#${evidenceFormId}" data-key="c" aria-keyshortcuts="c">Add evidence</a>`
}

/** The form that adds evidence to a seed, which people join with it. */
export function renderEvidenceForm(visit: WorkspaceVisit, seed: Seed): Content {
  const { base, may, request, state } = visit
  if (!may('seeds.addEvidence')) return false
  // A form that was refused stays, with what was typed, even if the seed was closed meanwhile.
  const isRefused = isAboutEvidence(state)
  if (!isOpenTo(visit, seed) && !isRefused)
    return html`<p class="hint">
      This seed is ${seed.status}: only its participants can add evidence. Who reopens it can join again.
    </p>`
  return html`<details class="reveal" id="${evidenceFormId}" ${isRefused && html`open`}>
    <summary>Add evidence</summary>
    ${renderForm({
      request,
      action: `${base}/seeds/${seed.id}/evidence`,
      ...(isRefused && { state }),
      fields: evidenceFormFields,
      body: html`${renderEvidenceFields(visit, isRefused ? state : emptyForm, seed.criteria)}
        ${!seed.joined && html`<p class="hint">You join the seed with it: you take part in it, and follow it.</p>`}
        <button>Add evidence</button>`,
    })}
  </details>`
}

interface EvidencePage extends Pick<SeedDetails, 'seed' | 'correctableSince'> {
  piece: ShownEvidence
  /** Its comments, oldest first. */
  discussion: ListView<WithPicture<Comment>>
  /** The comment that the form begins with as a quote. */
  quoted: Comment | undefined
}

/** The page of a piece of evidence: its discussion, with the form that adds to it. */
export function renderEvidencePage(visit: ThreadVisit, shown: EvidencePage): Page {
  const { base, may, request } = visit
  const { seed, piece, correctableSince, discussion, quoted } = shown
  const path = pathOfPiece(base, piece)
  return {
    title: `Evidence: ${seed.title}`,
    section: sectionOf(visit, 'Seeds'),
    hasMentions: true,
    hasLostForms: true,
    body: html`<p>
        <a href="${base}/seeds/${seed.id}#evidence-${piece.id}"><bdi>${seed.title}</bdi></a>
      </p>
      <h1>Evidence</h1>
      ${renderDone(request)} ${renderPiece(visit, piece, { correctableSince, isAlone: true })}
      <section class="stack" aria-labelledby="comments">
        <h2 id="comments">Comments</h2>
        ${renderNotices([discussion.isReset && resetNotice])}
        ${renderRows(
          parseJson(discussion.items).map((comment) => renderComment(visit, comment, { isUnderPiece: true })),
          html`<p>No comments yet.</p>`,
        )}
        ${renderPager(discussion, { path, fragment: 'comments' })}
        ${may('comments.create') ? renderCommentForm(visit, path, quoted) : whyNoComments}
      </section>`,
  }
}
