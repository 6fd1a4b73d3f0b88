import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { notice } from '../components/notice.ts'
import { readField, readText } from '../components/sent-form.ts'
import type { WorkspacePages } from '../plugins/workspace-visit.ts'
import { readSearch } from '../views/search-form.views.ts'
import { renderEditComment } from './comments.views.ts'

const namesMax = 8

/** Comments on seeds and their evidence, and the names of the people whom they can mention. */
export function commentsPages(
  { page, action, creation, data }: WorkspacePages,
  { comments, people }: Pick<Services, 'comments' | 'people'>,
): void {
  creation('/seeds/:id/comments', '/seeds/:id', async ({ base, principal, request }) => {
    const { id: seedId } = request.params
    const evidenceId = readField(request, 'evidenceId')
    const { id } = await comments.create(principal, seedId, {
      body: readText(request, 'body'),
      ...(evidenceId !== '' && { evidenceId }),
    })
    return { path: `${base}/seeds/${seedId}#comment-${id}`, notice: notice`Comment added.` }
  })

  page('/comments/:id/edit', async (visit) =>
    renderEditComment(visit, await comments.get(visit.principal, visit.request.params.id)),
  )

  action('/comments/:id/edit', '/comments/:id/edit', async ({ base, principal, request }) => {
    const { id } = request.params
    const { seedId } = await comments.get(principal, id)
    await comments.update(principal, id, { body: readText(request, 'body') })
    return { path: `${base}/seeds/${seedId}#comment-${id}`, notice: notice`Saved.` }
  })

  action('/comments/:id/delete', '/comments/:id/edit', async ({ base, principal, request }) => {
    const { id } = request.params
    const { seedId } = await comments.get(principal, id)
    await comments.delete(principal, id)
    return { path: `${base}/seeds/${seedId}`, notice: notice`Comment deleted.` }
  })

  data('/people/names', async ({ principal, request, workspace }) => {
    const q = readSearch(request)
    const found = await people.list(principal, workspace.slug, { limit: namesMax, ...(q !== '' && { q }) })
    return {
      people: parseJson(found.items).flatMap(({ userId, name }) =>
        userId === null ? [] : [{ userId, name }],
      ),
    }
  })
}
