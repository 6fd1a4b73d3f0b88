import { agentNamesIn, agentsMentionedIn, mentionedTeamSizeMax } from '../../../domain/comments.ts'
import type { AskedAgent, Comment, CommentsService } from '../../../areas/comments/comments.service.ts'
import { ignoreNotFound } from '../../../kernel/errors.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import type { Services } from '../../../services/services.ts'
import { renderAgentFace, renderFace } from '../../components/layout.ts'
import { notice, type Notice } from '../../components/notice.ts'
import { readQuery } from '../../components/lists.ts'
import { readAttachmentIds, readText } from '../../components/sent-form.ts'
import type { WorkspacePages, WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { readSearch } from '../../views/search-form.views.ts'
import { pathOfSubject, renderCommentPage, renderEditComment } from './comments.views.ts'
import { pathOfPiece } from './evidence-item.views.ts'

/** Few, so that the list fits under the field, above the keyboard of a phone. */
const namesMax = 6
/** How many agents have room in it whoever else is there. */
const agentsMax = 2
/** How many teams have. */
const teamsMax = 2

/** The comment that a form begins with as a quote. One that is gone is not quoted. */
export async function readQuoted(
  { principal, request }: WorkspaceVisit,
  comments: Pick<CommentsService, 'get'>,
): Promise<Comment | undefined> {
  const quotedId = readQuery(request, 'quote')
  if (quotedId === '') return undefined
  return comments.get(principal, quotedId).catch(ignoreNotFound)
}

function readCommentForm(request: WorkspaceVisit['request']) {
  const attachmentIds = readAttachmentIds(request)
  return { body: readText(request, 'body'), ...(attachmentIds && { attachmentIds }) }
}

/** That a comment was added; and whether an agent that it names was not asked. */
function noticeOfNew(body: string, { requests }: { requests: readonly AskedAgent[] }): Notice {
  return agentsMentionedIn(body).length === requests.length
    ? notice`Comment added.`
    : notice`Comment added. An agent that it names cannot be asked now, and was not.`
}

/** Comments on seeds and their evidence, and the names of the people, teams and agents whom they can mention. */
export function commentsPages(
  { page, action, creation, data }: WorkspacePages,
  {
    agentRequests,
    comments,
    people,
    teams,
  }: Pick<Services, 'agentRequests' | 'comments' | 'people' | 'teams'>,
): void {
  creation('/seeds/:id/comments', '/seeds/:id', async ({ base, principal, request }) => {
    const { id: seedId } = request.params
    const input = readCommentForm(request)
    const added = await comments.create(principal, seedId, input)
    return {
      path: `${base}/seeds/${seedId}#comment-${added.comment.id}`,
      notice: noticeOfNew(input.body, added),
    }
  })

  creation(
    '/seeds/:id/evidence/:evidenceId/comments',
    '/seeds/:id/evidence/:evidenceId',
    async ({ base, principal, request }) => {
      const { id: seedId, evidenceId } = request.params
      const input = readCommentForm(request)
      const added = await comments.create(principal, seedId, { ...input, evidenceId })
      const path = pathOfPiece(base, { seedId, id: evidenceId })
      return { path: `${path}#comment-${added.comment.id}`, notice: noticeOfNew(input.body, added) }
    },
  )

  page('/comments/:id', async (visit) => {
    const comment = await comments.get(visit.principal, visit.request.params.id)
    const requests = await agentRequests.listOfSeed(visit.principal, comment.seedId)
    return renderCommentPage({ ...visit, requests }, comment)
  })

  action('/agent-requests/:id/cancel', '/seeds', async ({ base, principal, request, workspace }) => {
    const { seedId, commentId } = await agentRequests.cancel(principal, workspace.slug, request.params.id)
    return {
      path: `${base}/seeds/${seedId}#comment-${commentId}`,
      notice: notice`The request was cancelled.`,
    }
  })

  page('/comments/:id/edit', async (visit) =>
    renderEditComment(visit, await comments.get(visit.principal, visit.request.params.id)),
  )

  action('/comments/:id/edit', '/comments/:id/edit', async ({ base, principal, request }) => {
    const { id } = request.params
    const { seedId, evidenceId, body: before } = await comments.get(principal, id)
    const input = readCommentForm(request)
    await comments.update(principal, id, input)
    const known = agentNamesIn(before)
    const asksMore = agentsMentionedIn(input.body).some((grantId) => !known.has(grantId))
    return {
      path: `${pathOfSubject(base, { seedId, evidenceId })}#comment-${id}`,
      notice: asksMore ? notice`Saved. An edit asks no agent: write a new comment.` : notice`Saved.`,
    }
  })

  action('/comments/:id/delete', '/comments/:id/edit', async ({ base, principal, request }) => {
    const { id } = request.params
    const { seedId, evidenceId } = await comments.get(principal, id)
    await comments.delete(principal, id)
    return { path: pathOfSubject(base, { seedId, evidenceId }), notice: notice`Comment deleted.` }
  })

  data('/people/names', async ({ may, principal, request, workspace }) => {
    const q = readSearch(request)
    // An edit asks nobody.
    const mayAsk = may('agentRequests.askable') && readQuery(request, 'agents') !== 'none'
    const [found, foundTeams, askable] = await Promise.all([
      people.list(principal, workspace.slug, { kind: 'member', limit: namesMax, ...(q !== '' && { q }) }),
      teams.listNamed(principal, workspace.slug, { q, limit: teamsMax }),
      mayAsk ? agentRequests.askable(principal, workspace.slug) : [],
    ])
    const named = parseJson(found.items).flatMap(({ userId, name, email, image }) =>
      userId === null
        ? []
        : [{ userId, name, email, face: renderFace({ id: userId, name, image }, 28).toString() }],
    )
    const agents = askable
      .filter(({ agentName }) => q === '' || agentName.toLowerCase().includes(q.toLowerCase()))
      .map(({ grantId, agentName, forName }) => ({
        ...{ grantId, name: agentName, forName },
        face: renderAgentFace(agentName).toString(),
      }))
    const teamsShown = foundTeams
      .filter(({ memberCount }) => memberCount <= mentionedTeamSizeMax)
      .map(({ id: teamId, name, memberCount }) => ({
        ...{ teamId, name, memberCount },
        face: renderFace({ id: teamId, name, image: null }, 28).toString(),
      }))
    // Few, and the people first.
    const others = namesMax - teamsShown.length
    const agentsShown = agents.slice(0, Math.max(agentsMax, others - named.length))
    const namedShown = named.slice(0, others - Math.min(agentsMax, agentsShown.length))
    return { people: [...namedShown, ...teamsShown, ...agentsShown] }
  })
}
