import { readQuery } from '../components/lists.ts'
import { readListView } from '../components/pager.ts'
import type { Services } from '../../services/services.ts'
import { errors } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import {
  evidenceAuthors,
  evidenceKinds,
  seedQueryLengthMax,
  seedSorts,
  seedStatuses,
  verdicts,
  type SeedStatus,
} from '../../kernel/seeds.ts'
import { readOpened } from '../components/edits.ts'
import { readField, readText, requireChoice } from '../components/sent-form.ts'
import type { Page } from '../plugins/pages.ts'
import { notice } from '../components/notice.ts'
import { readSearch } from '../views/search-form.views.ts'
import { readSeedForm, renderSeedForm } from './seed-form.views.ts'
import { renderSeed } from './seed.views.ts'
import {
  renderSeedBoard,
  renderSeedList,
  seedChoices,
  seedViews,
  type SeedSearch,
  type SeedView,
} from './seeds.views.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'

const seedsOfPage = 50
const seedsOfColumn = 20
const evidenceOfPage = 20
const eventsOfPage = 20

const viewCookie = 'seeds-view'
const viewCookieSeconds = 365 * 24 * 60 * 60

/** The seeds of a workspace: a list and a board, and each seed with its evidence. */
export function seedsPages(
  { page, action, creation }: WorkspacePages,
  { events, evidence, integrations, seeds }: Pick<Services, 'events' | 'evidence' | 'integrations' | 'seeds'>,
): void {
  const showSeeds = async (visit: WorkspaceVisit): Promise<Page> => {
    const search = readSeedSearch(visit)
    const list = (position: object, status: SeedStatus | undefined) =>
      seeds.list(visit.principal, visit.workspace.slug, {
        ...toRequest(search, visit.principal.user.id),
        ...(status !== undefined && { status }),
        ...position,
      })
    if (chooseView(visit) === 'board') {
      const columns = await Promise.all(
        seedStatuses.map(async (status) => ({ status, page: await list({ limit: seedsOfColumn }, status) })),
      )
      return renderSeedBoard(visit, search, columns)
    }
    return renderSeedList(
      visit,
      search,
      await readListView(visit.request, (position) =>
        list({ limit: seedsOfPage, ...position }, search.status),
      ),
    )
  }

  const showSeed = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const path = { slug: workspace.slug, seedId: request.params.id }
    const history = readQuery(request, 'history')
    const by = evidenceAuthors.find((author) => author === readQuery(request, 'by'))
    const [details, happened, grants] = await Promise.all([
      readListView(request, (position) =>
        seeds.getDetails(principal, path, {
          limit: evidenceOfPage,
          ...(by !== undefined && { by }),
          ...position,
        }),
      ),
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
    return renderSeed(visit, { ...details, by, events: happened, places, agents, uses })
  }

  const showNew = async (visit: WorkspaceVisit): Promise<Page> => {
    if (!visit.may('seeds.create')) throw errors.roleInsufficient()
    return renderSeedForm(visit)
  }

  const showEdit = async (visit: WorkspaceVisit): Promise<Page> => {
    if (!visit.may('seeds.update')) throw errors.roleInsufficient()
    const path = { slug: visit.workspace.slug, seedId: visit.request.params.id }
    const { seed } = await seeds.getDetails(visit.principal, path, { limit: 1 })
    return renderSeedForm(visit, seed)
  }

  page('/seeds', showSeeds)
  page('/seeds/new', showNew)
  page('/seeds/:id', showSeed)
  page('/seeds/:id/edit', showEdit)

  creation('/seeds/new', '/seeds/new', async (visit) => {
    const { id } = await seeds.create(visit.principal, visit.workspace.slug, readSeedForm(visit.request))
    return { path: `${visit.base}/seeds/${id}`, notice: notice`Seed created. Join it to add evidence.` }
  })

  action('/seeds/:id/edit', '/seeds/:id/edit', async (visit) => {
    const { principal, request } = visit
    await seeds.update(principal, request.params.id, readSeedForm(request), readOpened(request))
    return { path: seedPath(visit), notice: notice`Saved.` }
  })

  action('/seeds/:id/status', '/seeds/:id', async (visit) => {
    const { principal, request } = visit
    const status = requireChoice(request, 'status', seedStatuses)
    await seeds.update(principal, request.params.id, { status }, readOpened(request))
    return { path: seedPath(visit), notice: notice`Status changed.` }
  })

  action('/seeds/:id/join', '/seeds/:id', async (visit) => {
    await seeds.join(visit.principal, visit.request.params.id)
    return { path: seedPath(visit), notice: notice`You joined the seed.` }
  })

  action('/seeds/:id/leave', '/seeds/:id', async (visit) => {
    await seeds.leave(visit.principal, visit.request.params.id)
    return { path: seedPath(visit), notice: notice`You left the seed. Your evidence stays.` }
  })

  creation('/seeds/:id/evidence', '/seeds/:id', async (visit) => {
    const { principal, request } = visit
    const sourceUrl = readField(request, 'sourceUrl').trim()
    await evidence.add(principal, request.params.id, {
      kind: requireChoice(request, 'kind', evidenceKinds),
      verdict: requireChoice(request, 'verdict', verdicts),
      summary: readText(request, 'summary'),
      ...(sourceUrl !== '' && { sourceUrl }),
    })
    return { path: seedPath(visit), notice: notice`Evidence added.` }
  })
}

function seedPath({ base, request }: WorkspaceVisit): string {
  return `${base}/seeds/${request.params.id}`
}

/** What the page asks of the list. Unknown words count as none. */
function readSeedSearch({ request }: WorkspaceVisit): SeedSearch {
  const find = <Word extends string>(name: string, words: readonly Word[]): Word | undefined =>
    words.find((word) => word === readQuery(request, name))
  return {
    text: readSearch(request, { maxLength: seedQueryLengthMax }),
    status: find('status', seedStatuses),
    of: find('of', seedChoices),
    sort: find('sort', seedSorts) ?? 'updatedAt',
  }
}

function toRequest({ text, of, sort }: SeedSearch, userId: string) {
  return {
    sort,
    ...(text !== '' && { q: text }),
    ...(of === 'mine' && { createdByUserId: userId }),
    ...(of === 'joined' && { joined: true }),
  }
}

/** The view that the URL names, which is remembered, or the last one. */
function chooseView({ request, remember }: WorkspaceVisit): SeedView {
  const chosen = seedViews.find((view) => view === readQuery(request, 'view'))
  if (chosen === undefined) return request.visit.recall(viewCookie) === 'board' ? 'board' : 'list'
  remember(viewCookie, chosen, viewCookieSeconds)
  return chosen
}
