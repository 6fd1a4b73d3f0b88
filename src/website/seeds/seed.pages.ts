import { threadFilters } from '../../areas/comments/comments.service.ts'
import { ApiError, errors } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { readQuery } from '../components/lists.ts'
import { readListView } from '../components/pager.ts'
import type { Page } from '../plugins/pages.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { readChangesUrl } from '../views/events.views.ts'
import { renderSeedForm } from './seed-form.views.ts'
import type { CommentSubject } from './comments.views.ts'
import { renderSeed } from './seed.views.ts'

const itemsOfThread = 30
const eventsOfPage = 20

/** A seed with its evidence and comments, and the form for its text. */
export function seedPages(
  { page }: WorkspacePages,
  { comments, events, integrations, seeds }: Pick<Services, 'comments' | 'events' | 'integrations' | 'seeds'>,
): void {
  /** What the form for a comment is about. A comment that is gone is not quoted. */
  const readSubject = async ({ principal, request }: WorkspaceVisit): Promise<CommentSubject> => {
    const [evidenceId, quotedId] = [readQuery(request, 'evidence'), readQuery(request, 'quote')]
    if (quotedId === '') return evidenceId === '' ? {} : { evidenceId }
    try {
      const quoted = await comments.get(principal, quotedId)
      return { quoted, ...(quoted.evidenceId !== null && { evidenceId: quoted.evidenceId }) }
    } catch (error) {
      if (error instanceof ApiError && error.code === 'not_found') return {}
      throw error
    }
  }

  const showSeed = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const path = { slug: workspace.slug, seedId: request.params.id }
    const history = readQuery(request, 'history')
    const only = threadFilters.find((filter) => filter === readQuery(request, 'only'))
    const changesUrl = await readChangesUrl({ events }, visit)
    const [details, thread, about, happened, grants] = await Promise.all([
      seeds.getDetails(principal, path),
      readListView(request, (position) =>
        comments.listThread(principal, path.seedId, {
          limit: itemsOfThread,
          ...(only !== undefined && { only }),
          ...position,
        }),
      ),
      readSubject(visit),
      events.list(principal, workspace.slug, {
        targetId: path.seedId,
        limit: eventsOfPage,
        ...(history !== '' && { cursor: history }),
      }),
      integrations.list(principal, workspace.slug, {}),
    ])
    const agents = parseJson(grants.items)
    const ids = agents.map(({ id }) => id)
    const [uses, places] = await Promise.all([
      integrations.listToolUses(principal, workspace.slug, ids),
      events.findPlaces(principal, workspace.slug, parseJson(happened.items)),
    ])
    return renderSeed(visit, {
      ...details,
      changesUrl,
      thread,
      only,
      about,
      events: happened,
      places,
      agents,
      uses,
    })
  }

  const showEdit = async (visit: WorkspaceVisit): Promise<Page> => {
    if (!visit.may('seeds.update')) throw errors.roleInsufficient()
    const path = { slug: visit.workspace.slug, seedId: visit.request.params.id }
    const { seed } = await seeds.getDetails(visit.principal, path)
    return renderSeedForm(visit, seed)
  }

  page('/seeds/:id', showSeed)
  page('/seeds/:id/edit', showEdit)
}
