import type { DiscussedEvidence, ShownEvidence } from '../../../areas/comments/comments.service.ts'
import type { Evidence } from '../../../areas/evidence/evidence.service.ts'
import { reasonLengthMax } from '../../../domain/seeds.ts'
import { renderAction, renderField, renderForm } from '../../components/forms.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { renderConfirmed } from '../../components/lists.ts'
import { renderMarkdown } from '../../components/markdown.ts'
import { countOf, renderTime } from '../../components/words.ts'
import type { WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { renderAuthor, renderByline } from '../../views/author.views.ts'
import { renderAttachments } from './attachments.views.ts'
import { pathOfSubject, renderComment, type ThreadVisit } from './comments.views.ts'
import { verdictNames } from './evidence-balance.ts'
import { kindNames, renderKind } from './evidence-form.views.ts'

/**
 * A piece of evidence with what the reader may do to it, and, in a thread, with its first comments under it. Evidence that was
 * added after `correctableSince` can be corrected by its author. On a page of its own it `isAlone`.
 */
export function renderPiece(
  visit: ThreadVisit,
  piece: ShownEvidence | DiscussedEvidence,
  { correctableSince, isAlone = false }: { correctableSince: Date; isAlone?: boolean },
): Html {
  const discussion = 'discussion' in piece && renderDiscussion(visit, piece)
  if (piece.withdrawnAt !== null)
    return html`<div class="stack">${renderWithdrawn(piece)} ${discussion}</div>`
  const { id, kind, verdict, summary, sourceUrl, createdAt, editedAt } = piece
  const corrected = editedAt !== null && html` · corrected ${renderTime(editedAt)}`
  return html`<article class="stack piece" id="evidence-${id}">
    <p class="byline">
      <span class="tag verdict-${verdict}">${verdictNames[verdict]}</span> ${renderKind(kind)}
    </p>
    ${renderMarkdown(summary, visit.base)}
    ${
      sourceUrl !== null &&
      html`<p class="source">
        Source: <a href="${sourceUrl}" rel="noopener noreferrer nofollow"><bdi>${sourceUrl}</bdi></a>
      </p>`
    }
    ${renderAttachments(visit, piece.attachments, { isAlone })} ${renderSeenBy(visit, piece, isAlone)}
    <div class="foot">
      ${renderByline(piece, html`, ${renderTime(createdAt)}${corrected}`)}
      ${renderPieceActions(visit, piece, { correctableSince, isAlone })}
    </div>
    ${discussion}
  </article>`
}

/** What stays of withdrawn evidence: one line that says who withdrew it, and why. */
function renderWithdrawn({
  id,
  kind,
  authorName,
  agentName,
  withdrawnByName,
  withdrawnReason,
}: Evidence): Html {
  return html`<p class="hint withdrawn" id="evidence-${id}">
    ${kindNames[kind]} by ${renderAuthor(authorName, agentName)}. Withdrawn by
    <bdi>${withdrawnByName}</bdi>${withdrawnReason !== null && html`: <bdi>${withdrawnReason}</bdi>`}
  </p>`
}

/** The page of a piece of evidence, with its discussion. */
export const pathOfPiece = (base: string, { seedId, id }: Pick<Evidence, 'seedId' | 'id'>): string =>
  pathOfSubject(base, { seedId, evidenceId: id })

/** The first comments on a piece, oldest first. Its page shows the others. */
function renderDiscussion(visit: ThreadVisit, piece: DiscussedEvidence): Content {
  const { comments, total } = piece.discussion
  if (total === 0) return false
  return html`<div class="discussion">
    ${comments.map((comment) => renderComment(visit, comment, { isUnderPiece: true }))}
    ${
      total > comments.length &&
      html`<p>
        <a href="${pathOfPiece(visit.base, piece)}#comments"
          >${countOf(total - comments.length, 'more comment')}</a
        >
      </p>`
    }
  </div>`
}

/** Who saw it too: some names, or on the page of the evidence all, as far as they fit, and how many others there are. */
function renderSeenBy({ base }: WorkspaceVisit, piece: ShownEvidence, isAlone: boolean): Content {
  const { seenByCount, seenByMe, seenBy } = piece
  if (seenByCount === 0) return false
  const names = seenBy.map(({ userId, name }) =>
    isAlone ? html`<a href="${base}/people/${userId}"><bdi>${name}</bdi></a>` : html`<bdi>${name}</bdi>`,
  )
  const people: Content[] = seenByMe ? ['you', ...names] : names
  const more = seenByCount - people.length
  const others = countOf(more, 'other')
  const last =
    more > 0
      ? isAlone
        ? others
        : html`<a href="${pathOfPiece(base, piece)}#seen">${others}</a>`
      : people.pop()
  const list = people.map((person, i) => html`${i > 0 && ', '}${person}`)
  return html`<p class="hint" ${isAlone && html`id="seen"`}>
    Seen too by ${list}${people.length > 0 && ' and '}${last}
  </p>`
}

/** The button with which a reader says that they saw it too, or takes that back. Its author has seen it anyway. */
function renderSeeing({ base, request }: WorkspaceVisit, piece: Evidence, isAlone: boolean): Html {
  const { seenByMe } = piece
  return renderAction(request, {
    action: `${pathOfPiece(base, piece)}/${seenByMe ? 'unsee' : 'see'}`,
    label: seenByMe ? 'I did not see this' : 'I saw this too',
    ...(isAlone && { fields: { isAlone: 'yes' } }),
  })
}

function renderPieceActions(
  visit: WorkspaceVisit,
  piece: Evidence,
  { correctableSince, isAlone }: { correctableSince: Date; isAlone: boolean },
): Content {
  const { base, may, principal } = visit
  const isAuthor = piece.authorUserId === principal.user.id
  const mayCorrect = isAuthor && may('evidence.update') && new Date(piece.createdAt) >= correctableSince
  const mayWithdraw = may(isAuthor ? 'evidence.withdraw' : 'evidence.withdrawOthers')
  const mayComment = may('comments.create')
  const maySee = !isAuthor && may(piece.seenByMe ? 'evidence.unsee' : 'evidence.see')
  if (!mayCorrect && !mayWithdraw && !mayComment && !maySee) return false
  const path = pathOfPiece(base, piece)
  return html`<div class="choices subtle">
    ${maySee && renderSeeing(visit, piece, isAlone)}
    ${
      mayComment &&
      html`<a class="button small quiet" href="${path}#comment"
        >Comment<span class="visually-hidden"> on this evidence</span></a
      >`
    }
    ${
      mayCorrect &&
      html`<a class="button small quiet" href="${path}/edit"
        >Correct<span class="visually-hidden"> this evidence</span></a
      >`
    }
    ${mayWithdraw && renderWithdrawal(visit, piece)}
  </div>`
}

/** The form that withdraws a piece, with a reason, behind a button. */
function renderWithdrawal({ base, request }: WorkspaceVisit, { id, seedId }: Evidence): Html {
  return renderConfirmed({
    label: 'Withdraw',
    description: 'this evidence',
    question: 'It no longer counts. Who withdrew it, and why, stays visible. This cannot be undone.',
    action: renderForm({
      request,
      action: `${base}/seeds/${seedId}/evidence/${id}/withdraw`,
      body: html`${renderField({
          name: 'reason',
          id: `reason-${id}`,
          label: 'Reason',
          maxLength: reasonLengthMax,
          isOptional: true,
          autocomplete: 'off',
        })}<button class="small danger">Withdraw evidence</button>`,
    }),
  })
}
