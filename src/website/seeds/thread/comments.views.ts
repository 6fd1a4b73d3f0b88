import type { AgentRequest } from '../../../areas/agentRequests/agentRequests.service.ts'
import type { Comment, WithPicture } from '../../../areas/comments/comments.service.ts'
import { commentLengthMax, toMention, withoutTeams } from '../../../domain/comments.ts'
import { renderField, renderForm, stateOf } from '../../components/forms.ts'
import { html, type Html } from '../../components/html.ts'
import { renderConfirmed, withQuery } from '../../components/lists.ts'
import { renderAction } from '../../components/forms.ts'
import { renderMarkdown } from '../../components/markdown.ts'
import { renderDone } from '../../components/notice.ts'
import { renderTime } from '../../components/words.ts'
import type { Page } from '../../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { renderRequest } from './agent-requests.views.ts'
import { renderAttachments, renderAttachmentsField } from './attachments.views.ts'
import { renderByline } from '../../views/author.views.ts'

/** The form that comments on a seed or a piece of its evidence, whose page has the path. It can begin with a quote. */
export function renderCommentForm(visit: WorkspaceVisit, path: string, quoted?: Comment): Html {
  const action = `${path}/comments`
  const state = stateOf(visit.state, action)
  return html`<div id="comment">
    ${renderForm({
      request: visit.request,
      action,
      state,
      fields: ['body'],
      attributes: html`data-mentions="${visit.base}/people/names"`,
      body: html`${renderBodyField(
          state,
          quoted ? quote(quoted) : '',
          'Write @ and a name to mention somebody or a team, or to ask an agent that is in the list then.',
        )}
        ${renderAttachmentsField(visit, { state })} <button class="quiet">Comment</button>`,
    })}
  </div>`
}

/** Why a viewer sees no field for comments. */
export const whyNoComments = html`<p class="hint">
  You are a viewer: you read what others write here. Owners and admins can change your role.
</p>`

function renderBodyField(state: WorkspaceVisit['state'], value: string, hint: string): Html {
  return renderField({
    name: 'body',
    label: 'Comment',
    rows: 3,
    maxLength: commentLengthMax,
    value,
    hint: `Markdown. ${hint}`,
    state,
  })
}

/** A comment as a quote in Markdown, which mentions its author. It mentions no team again. */
function quote({ body, authorUserId, authorName }: Comment): string {
  const lines = withoutTeams(body)
    .split('\n')
    .map((line) => `> ${line}`)
  const author = authorUserId === null ? '' : `${toMention({ userId: authorUserId, name: authorName })} `
  return `${lines.join('\n')}\n\n${author}`
}

/** The page of what a comment is about: its seed, or a piece of its evidence. */
export function pathOfSubject(
  base: string,
  { seedId, evidenceId }: Pick<Comment, 'seedId' | 'evidenceId'>,
): string {
  return `${base}/seeds/${seedId}${evidenceId === null ? '' : `/evidence/${evidenceId}`}`
}

/** A visit to a page with comments, with what they asked of agents. */
export interface ThreadVisit extends WorkspaceVisit {
  requests?: readonly AgentRequest[]
}

/** A comment in a thread, or under the piece of evidence that it is about. */
export function renderComment(
  visit: ThreadVisit,
  comment: WithPicture<Comment>,
  { isUnderPiece = false, isAlone = false }: { isUnderPiece?: boolean; isAlone?: boolean } = {},
): Html {
  const { base, may, principal, request } = visit
  const { id, body, authorUserId, authorName, createdAt, editedAt, seedId, evidenceId } = comment
  const isOwn = authorUserId === principal.user.id
  const description = html`the comment by <bdi>${authorName}</bdi>`
  const path = pathOfSubject(base, { seedId, evidenceId })
  return html`<article class="stack comment" id="comment-${id}">
    ${renderByline(
      comment,
      html`${evidenceId !== null && !isUnderPiece && html` on <a href="${path}">evidence</a>`},
        <a class="permalink" href="${path}#comment-${id}">${renderTime(createdAt)}</a
        >${editedAt !== null && ' · edited'}`,
    )}
    ${renderMarkdown(body, base)} ${renderAttachments(visit, comment.attachments, { isAlone })}
    ${visit.requests?.filter(({ commentId }) => commentId === id).map((each) => renderRequest(visit, each))}
    <div class="choices subtle">
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
export function renderEditComment(visit: WorkspaceVisit, comment: Comment): Page {
  const { id, seedId, evidenceId, body } = comment
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
        attributes: html`data-mentions="${base}/people/names?agents=none"`,
        body: html`${renderBodyField(
            state,
            body,
            'Write @ and a name to mention somebody or a team. An edit asks no agent: write a new comment.',
          )}
          ${renderAttachmentsField(visit, { state, stored: comment.attachments })}
          <p class="line">
            <button>Save</button>
            <a class="button quiet" href="${pathOfSubject(base, { seedId, evidenceId })}#comment-${id}"
              >Cancel</a
            >
          </p>`,
      })}`,
  }
}

/** A comment alone. Links to comments lead here when the thread does not show them on its first page. */
export function renderCommentPage(visit: ThreadVisit, comment: Comment): Page {
  const path = pathOfSubject(visit.base, comment)
  return {
    title: 'Comment',
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${path}">${comment.evidenceId === null ? 'To the seed' : 'To the evidence'}</a></p>
      <h1>Comment</h1>
      ${renderDone(visit.request)}
      ${renderComment(visit, { ...comment, authorPicture: null }, { isUnderPiece: true, isAlone: true })}`,
  }
}
