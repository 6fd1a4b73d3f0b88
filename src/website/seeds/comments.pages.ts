import type { Comment, CommentsService } from '../../areas/comments/comments.service.ts'
import { ApiError } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { renderFace } from '../components/layout.ts'
import { notice } from '../components/notice.ts'
import { readQuery } from '../components/lists.ts'
import { readText } from '../components/sent-form.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { readSearch } from '../views/search-form.views.ts'
import { pathOfSubject, renderCommentPage, renderEditComment } from './comments.views.ts'
import { pathOfPiece } from './evidence-item.views.ts'

/** Few, so that the list fits under the field, above the keyboard of a phone. */
const namesMax = 6
/** How many agents have room in it whoever else is there. */
const agentsMax = 2

/** The comment that a form begins with as a quote. One that is gone is not quoted. */
export async function readQuoted(
  { principal, request }: WorkspaceVisit,
  comments: Pick<CommentsService, 'get'>,
): Promise<Comment | undefined> {
  const quotedId = readQuery(request, 'quote')
  if (quotedId === '') return undefined
  try {
    return await comments.get(principal, quotedId)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return undefined
    throw error
  }
}

/** Comments on seeds and their evidence, and the names of the people whom they can mention. */
export function commentsPages(
  { page, action, creation, data }: WorkspacePages,
  { agentRequests, comments, people }: Pick<Services, 'agentRequests' | 'comments' | 'people'>,
): void {
  creation('/seeds/:id/comments', '/seeds/:id', async ({ base, principal, request }) => {
    const { id: seedId } = request.params
    const { id } = await comments.create(principal, seedId, { body: readText(request, 'body') })
    return { path: `${base}/seeds/${seedId}#comment-${id}`, notice: notice`Comment added.` }
  })

  creation(
    '/seeds/:id/evidence/:evidenceId/comments',
    '/seeds/:id/evidence/:evidenceId',
    async ({ base, principal, request }) => {
      const { id: seedId, evidenceId } = request.params
      const { id } = await comments.create(principal, seedId, { body: readText(request, 'body'), evidenceId })
      const path = pathOfPiece(base, { seedId, id: evidenceId })
      return { path: `${path}#comment-${id}`, notice: notice`Comment added.` }
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
    const { seedId, evidenceId } = await comments.get(principal, id)
    await comments.update(principal, id, { body: readText(request, 'body') })
    return { path: `${pathOfSubject(base, { seedId, evidenceId })}#comment-${id}`, notice: notice`Saved.` }
  })

  action('/comments/:id/delete', '/comments/:id/edit', async ({ base, principal, request }) => {
    const { id } = request.params
    const { seedId, evidenceId } = await comments.get(principal, id)
    await comments.delete(principal, id)
    return { path: pathOfSubject(base, { seedId, evidenceId }), notice: notice`Comment deleted.` }
  })

  data('/people/names', async ({ may, principal, request, workspace }) => {
    const q = readSearch(request)
    const mayAsk = may('agentRequests.askable')
    const [found, askable] = await Promise.all([
      people.list(principal, workspace.slug, { kind: 'member', limit: namesMax, ...(q !== '' && { q }) }),
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
        face: renderFace({ id: grantId, name: agentName, image: null }, 28).toString(),
      }))
    // Few, and the people first.
    const agentsShown = agents.slice(0, Math.max(agentsMax, namesMax - named.length))
    return { people: [...named.slice(0, namesMax - Math.min(agentsMax, agentsShown.length)), ...agentsShown] }
  })
}
