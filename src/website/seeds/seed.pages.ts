import type { App } from '../../http/app-types.ts'
import { threadFilters } from '../../areas/comments/comments.service.ts'
import { errors } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { seedPagesPath } from '../../domain/page-urls.ts'
import type { Services } from '../../services/services.ts'
import { readOneOf, readQuery } from '../components/lists.ts'
import { readListView } from '../components/pager.ts'
import type { Page } from '../plugins/pages.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { findNamed, readChangesUrl } from '../views/events.views.ts'
import { renderSeedForm } from './seed-form.views.ts'
import { readQuoted } from './thread/comments.pages.ts'
import { readSorting } from './lists/seed-sorting.views.ts'
import { renderSeed } from './seed.views.ts'

const itemsOfThread = 30
const eventsOfPage = 20

/** The permanent address of a seed, which leads to its page. The browser keeps the part behind `#`. */
export function seedAddress(app: App, { seeds }: Pick<Services, 'seeds'>): void {
  app.get<{ Params: { id: string } }>(`${seedPagesPath}:id`, async ({ principal, params }, reply) =>
    reply.redirect(`/w/${await seeds.getSlug(principal, params.id)}/seeds/${params.id}`, 302),
  )
}

/** A seed with its evidence and comments, and the form for its text. */
export function seedPages(
  { page }: WorkspacePages,
  {
    agentRequests,
    comments,
    events,
    grants,
    labels,
    seeds,
  }: Pick<Services, 'agentRequests' | 'comments' | 'events' | 'grants' | 'labels' | 'seeds'>,
): void {
  const showSeed = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const path = { slug: workspace.slug, seedId: request.params.id }
    const history = readQuery(request, 'history')
    const only = readOneOf(request, 'only', threadFilters)
    const changesUrl = await readChangesUrl({ events }, visit)
    const [details, thread, quoted, happened, granted, requests] = await Promise.all([
      seeds.getDetails(principal, path),
      readListView(request, (position) =>
        comments.listThread(principal, path.seedId, {
          limit: itemsOfThread,
          ...(only !== undefined && { only }),
          ...position,
        }),
      ),
      readQuoted(visit, comments),
      events.list(principal, workspace.slug, {
        targetId: path.seedId,
        limit: eventsOfPage,
        ...(history !== '' && { cursor: history }),
      }),
      grants.list(principal, workspace.slug, {}),
      agentRequests.listOfSeed(principal, path.seedId),
    ])
    const agents = parseJson(granted.items)
    const ids = agents.map(({ id }) => id)
    const [uses, targets] = await Promise.all([
      grants.listToolUses(principal, workspace.slug, ids),
      events.findTargets(principal, workspace.slug, findNamed(parseJson(happened.items))),
    ])
    return renderSeed(
      { ...visit, requests },
      {
        ...details,
        due: seeds.dueOf(details.seed),
        changesUrl,
        thread,
        only,
        quoted,
        events: happened,
        targets,
        agents,
        uses,
      },
    )
  }

  const showEdit = async (visit: WorkspaceVisit): Promise<Page> => {
    if (!visit.may('seeds.update')) throw errors.roleInsufficient()
    const path = { slug: visit.workspace.slug, seedId: visit.request.params.id }
    const [seed, sorting] = await Promise.all([
      seeds.getOfWorkspace(visit.principal, path),
      readSorting({ labels }, visit),
    ])
    return renderSeedForm(visit, sorting, seed)
  }

  page('/seeds/:id', showSeed)
  page('/seeds/:id/edit', showEdit)
}
