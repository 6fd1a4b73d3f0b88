import type { Evidence } from '../../areas/evidence/evidence.service.ts'
import { reasonLengthMax } from '../../domain/seeds.ts'
import { renderField, renderForm } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderConfirmed, withQuery } from '../components/lists.ts'
import { renderMarkdown } from '../components/markdown.ts'
import { renderTime } from '../components/words.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderAuthor } from '../views/author.views.ts'
import { verdictNames } from './evidence-balance.ts'
import { kindNames } from './evidence-form.views.ts'

/**
 * A piece of evidence, with what the reader may do to it. Evidence that was added after `correctableSince` can be corrected
 * by its author.
 */
export function renderPiece(visit: WorkspaceVisit, piece: Evidence, correctableSince: Date): Html {
  if (piece.withdrawnAt !== null) return renderWithdrawn(piece)
  const { id, kind, verdict, summary, sourceUrl, authorName, agentName, createdAt, editedAt } = piece
  const corrected = editedAt !== null && html` · corrected ${renderTime(editedAt)}`
  return html`<article class="stack piece" id="evidence-${id}">
    <p><span class="tag verdict-${verdict}">${verdictNames[verdict]}</span> ${kindNames[kind]}</p>
    ${renderMarkdown(summary, visit.base)}
    ${
      sourceUrl !== null &&
      html`<p class="source">
        Source: <a href="${sourceUrl}" rel="noopener noreferrer nofollow"><bdi>${sourceUrl}</bdi></a>
      </p>`
    }
    <p class="hint">${renderAuthor(authorName, agentName)}, ${renderTime(createdAt)}${corrected}</p>
    ${renderPieceActions(visit, piece, correctableSince)}
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

function renderPieceActions(visit: WorkspaceVisit, piece: Evidence, correctableSince: Date): Content {
  const { base, may, principal } = visit
  const isAuthor = piece.authorUserId === principal.user.id
  const mayCorrect = isAuthor && may('evidence.update') && new Date(piece.createdAt) >= correctableSince
  const mayWithdraw = may(isAuthor ? 'evidence.withdraw' : 'evidence.withdrawOthers')
  const mayComment = may('comments.create')
  if (!mayCorrect && !mayWithdraw && !mayComment) return false
  const path = `${base}/seeds/${piece.seedId}`
  return html`<div class="choices">
    ${
      mayComment &&
      html`<a class="button small quiet" href="${withQuery(path, { evidence: piece.id })}#comment"
        >Comment<span class="visually-hidden"> on this evidence</span></a
      >`
    }
    ${
      mayCorrect &&
      html`<a class="button small quiet" href="${path}/evidence/${piece.id}/edit"
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
