import type { AgentRequest } from '../../../areas/agentRequests/agentRequests.service.ts'
import { renderAction } from '../../components/forms.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { renderRows } from '../../components/lists.ts'
import { excerptOf } from '../../components/markdown.ts'
import { renderTime } from '../../components/words.ts'
import type { WorkspaceVisit } from '../../plugins/workspace-visit.ts'

/** What a comment asked of an agent, under it: how it stands, and the button that cancels it. */
export function renderRequest(visit: WorkspaceVisit, request: AgentRequest): Html {
  const { base, may, principal } = visit
  const { id, agentName, forUserId, forName, askedByUserId, state } = request
  const isOwn = askedByUserId === principal.user.id
  const mayCancel = state === 'waiting' && may(isOwn ? 'agentRequests.cancel' : 'agentRequests.cancelOthers')
  return html`<div class="hint line" id="request-${id}">
    <span
      >${describe(base, request)}
      ${forUserId !== principal.user.id && html`(<bdi>${agentName}</bdi> acts for <bdi>${forName}</bdi>)`}</span
    >
    ${
      mayCancel &&
      renderAction(visit.request, {
        action: `${base}/agent-requests/${id}/cancel`,
        label: 'Cancel',
        description: html`the request to <bdi>${agentName}</bdi>`,
      })
    }
  </div>`
}

/** What was asked of agents, by whom, and what came of it. Nothing without any. */
export function renderRequests(visit: WorkspaceVisit, requests: readonly AgentRequest[]): Content {
  if (requests.length === 0) return false
  return html`<section class="stack" aria-labelledby="requests">
    <h2 id="requests">What was asked</h2>
    ${renderRows(
      requests.map(
        (request) =>
          html`<div class="grow">
            <a href="${visit.base}/comments/${request.commentId}"><bdi>${excerptOf(request.text)}</bdi></a>
            <span class="hint"
              >asked by <bdi>${request.askedByName}</bdi> ${renderTime(request.createdAt)}</span
            >
            ${renderRequest(visit, request)}
          </div>`,
      ),
      html``,
    )}
  </section>`
}

function describe(
  base: string,
  { agentName, state, hidden, reason, answerCommentId, askedByName }: AgentRequest,
): Content {
  const agent = html`<bdi>${agentName}</bdi>`
  switch (state) {
    case 'waiting':
      if (hidden) return html`${agent} does not see this, since <bdi>${askedByName}</bdi> is suspended`
      return html`Waiting for ${agent}`
    case 'answered':
      if (answerCommentId === null) return html`${agent} answered. The answer was deleted.`
      return html`${agent} <a href="${base}/comments/${answerCommentId}">answered</a>`
    case 'declined':
      return html`${agent} declined: <bdi>${reason}</bdi>`
    case 'expired':
      return html`No answer from ${agent}`
    case 'cancelled':
      return html`The request to ${agent} was cancelled`
  }
}
