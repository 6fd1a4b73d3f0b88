import type { Comment } from '../../areas/comments/comments.service.ts'
import { commentLengthMax, toMention } from '../../domain/comments.ts'
import { renderField, renderForm, stateOf } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import { renderConfirmed, withQuery } from '../components/lists.ts'
import { renderAction } from '../components/forms.ts'
import { renderMarkdown } from '../components/markdown.ts'
import { renderTime } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderAuthor } from '../views/author.views.ts'

/** What a new comment is about, apart from its seed. */
export interface CommentSubject {
  /** The evidence that it is about. */
  evidenceId?: string
  /** The comment that it begins with as a quote. */
  quoted?: Comment
}

/** The form that comments on a seed, or on one piece of its evidence. */
export function renderCommentForm(visit: WorkspaceVisit, path: string, about: CommentSubject): Html {
  const action = `${path}/comments`
  const state = stateOf(visit.state, action)
  const evidenceId = state.values.evidenceId ?? about.evidenceId ?? ''
  return html`<div id="comment">
    ${renderForm({
      request: visit.request,
      action,
      state,
      fields: ['body'],
      attributes: html`data-mentions="${visit.base}/people/names"`,
      body: html`${
          evidenceId !== '' &&
          html`<input type="hidden" name="evidenceId" value="${evidenceId}" />
            <p class="hint">
              About <a href="#evidence-${evidenceId}">a piece of evidence</a> ·
              <a href="${path}#comment">About the seed</a>
            </p>`
        }
        ${renderBodyField(state, about.quoted ? quote(about.quoted) : '')} <button>Comment</button>`,
    })}
  </div>`
}

function renderBodyField(state: WorkspaceVisit['state'], value: string): Html {
  return renderField({
    name: 'body',
    label: 'Comment',
    rows: 3,
    maxLength: commentLengthMax,
    value,
    hint: 'Markdown. Write @ and a name to mention somebody.',
    state,
  })
}

/** A comment as a quote in Markdown, which mentions its author. */
function quote({ body, authorUserId, authorName }: Comment): string {
  const lines = body.split('\n').map((line) => `> ${line}`)
  const author = authorUserId === null ? '' : `${toMention({ userId: authorUserId, name: authorName })} `
  return `${lines.join('\n')}\n\n${author}`
}

/** A comment in the thread of its seed, whose page has the path. */
export function renderComment(visit: WorkspaceVisit, comment: Comment, path: string): Html {
  const { base, may, principal, request } = visit
  const { id, body, authorUserId, authorName, agentName, createdAt, editedAt, evidenceId } = comment
  const isOwn = authorUserId === principal.user.id
  const description = html`the comment by <bdi>${authorName}</bdi>`
  return html`<article class="stack comment" id="comment-${id}">
    <p class="hint">
      ${renderAuthor(authorName, agentName)}${
        evidenceId !== null && html` on <a href="#evidence-${evidenceId}">evidence</a>`
      },
      ${renderTime(createdAt)}${editedAt !== null && ' · edited'}
    </p>
    ${renderMarkdown(body, base)}
    <div class="choices">
      ${
        may('comments.create') &&
        html`<a class="button small quiet" href="${withQuery(path, { quote: id })}#comment"
          >Quote<span class="visually-hidden"> ${description}</span></a
        >`
      }
      ${
        isOwn &&
        may('comments.update') &&
        html`<a class="button small quiet" href="${base}/comments/${id}/edit"
          >Edit<span class="visually-hidden"> ${description}</span></a
        >`
      }
      ${
        (isOwn ? may('comments.delete') : may('comments.deleteOthers')) &&
        renderConfirmed({
          label: 'Delete',
          description,
          question: 'It cannot be restored.',
          action: renderAction(request, {
            action: `${base}/comments/${id}/delete`,
            label: 'Delete',
            description,
            isDangerous: true,
          }),
        })
      }
    </div>
  </article>`
}

/** The page on which the author edits a comment. */
export function renderEditComment(visit: WorkspaceVisit, { id, seedId, body }: Comment): Page {
  const { base, request, state } = visit
  return {
    title: 'Edit comment',
    section: sectionOf(visit, 'Seeds'),
    hasMentions: true,
    body: html`<h1>Edit comment</h1>
      ${renderForm({
        request,
        action: `${base}/comments/${id}/edit`,
        state,
        fields: ['body'],
        attributes: html`data-mentions="${base}/people/names"`,
        body: html`${renderBodyField(state, body)}
          <p class="line">
            <button>Save</button>
            <a class="button quiet" href="${base}/seeds/${seedId}#comment-${id}">Cancel</a>
          </p>`,
      })}`,
  }
}
