import { readOneOf } from '../../components/lists.ts'
import { readListView } from '../../components/pager.ts'
import type { Services } from '../../../services/services.ts'
import type { SeedsRequest } from '../../../areas/seeds/seed-lists.ts'
import type { Seed } from '../../../areas/seeds/seeds.service.ts'
import { errors } from '../../../kernel/errors.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import type { Page as ListPage } from '../../../kernel/pagination.ts'
import { seedStatuses } from '../../../domain/seeds.ts'
import type { Page } from '../../plugins/pages.ts'
import { notice } from '../../components/notice.ts'
import { readSeedForm, renderSeedForm } from '../seed-form.views.ts'
import { renderDeletedSeeds } from '../seed-deletion.views.ts'
import { readSeedSearch, statusOf, toFilter } from './seed-search.ts'
import { readFilterChoices, readSorting } from './seed-sorting.views.ts'
import { readLaneLength, renderSeedBoard } from './seed-board.views.ts'
import type { DueOf } from './seed-rows.views.ts'
import { readChangesUrl } from '../../views/events.views.ts'
import { renderSeedList, seedViews, type SeedView } from './seeds.views.ts'
import type { WorkspacePages, WorkspaceVisit } from '../../plugins/workspace-visit.ts'

const seedsOfPage = 50

const viewCookie = 'seeds-view'
const viewCookieSeconds = 365 * 24 * 60 * 60

/** The seeds of a workspace, as a list and as a board, and the form for a new one. */
export function seedsPages(
  { page, creation }: WorkspacePages,
  { events, labels, savedFilters, seeds }: Pick<Services, 'events' | 'labels' | 'savedFilters' | 'seeds'>,
): void {
  const showSeeds = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const search = readSeedSearch(request)
    const filter = toFilter(search)
    const list = (asked: SeedsRequest) =>
      seeds.list(principal, workspace.slug, { ...filter, sort: search.sort, ...asked })
    const countSeeds = async () => (await seeds.count(principal, workspace.slug, filter)).byStatus
    if (chooseView(visit) === 'board') {
      const changesUrl = await readChangesUrl({ events }, visit)
      const [counts, ...columns] = await Promise.all([
        countSeeds(),
        ...seedStatuses.map(async (status) => {
          const length = readLaneLength(request, status)
          return { status, length, page: await list({ limit: length, status }) }
        }),
      ])
      const about = await readAbout(visit, ...columns.map(({ page }) => page))
      return renderSeedBoard(visit, search, { changesUrl, columns, counts, ...about })
    }
    // As for the board, before what it is about.
    const url = await readChangesUrl({ events }, visit)
    const [counts, shown] = await Promise.all([
      countSeeds(),
      readListView(request, (position) => list({ ...statusOf(search), limit: seedsOfPage, ...position })),
    ])
    const changesUrl = shown.cursor === '' ? url : undefined
    return renderSeedList(visit, search, {
      list: shown,
      changesUrl,
      counts,
      ...(await readAbout(visit, shown)),
    })
  }

  /** What the seeds can be filtered by, the faces of some seeds, and whether the person has never made a seed. */
  const readAbout = async (visit: WorkspaceVisit, ...pages: ListPage<Seed>[]) => {
    const { principal, workspace } = visit
    const shown = pages.flatMap(({ items }) => parseJson(items))
    const createdByUserId = principal.user.id
    const [choices, faces, own] = await Promise.all([
      readFilterChoices({ savedFilters }, visit),
      seeds.listFaces(
        principal,
        workspace.slug,
        shown.map(({ id }) => id),
      ),
      shown.some((seed) => seed.createdByUserId === createdByUserId)
        ? undefined
        : seeds.count(principal, workspace.slug, { createdByUserId }),
    ])
    const dueOf: DueOf = (seed) => seeds.dueOf(seed)
    return {
      choices,
      faces,
      dueOf,
      isNewcomer: own?.count === 0,
    }
  }

  const showNew = async (visit: WorkspaceVisit): Promise<Page> => {
    if (!visit.may('seeds.create')) throw errors.roleInsufficient()
    return renderSeedForm(visit, await readSorting({ labels }, visit))
  }

  const showDeleted = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const list = await readListView(request, (position) =>
      seeds.list(principal, workspace.slug, {
        deleted: true,
        sort: 'updatedAt',
        limit: seedsOfPage,
        ...position,
      }),
    )
    return renderDeletedSeeds(visit, list)
  }

  page('/seeds', showSeeds)
  page('/seeds/deleted', showDeleted)
  page('/seeds/new', showNew)

  creation('/seeds/new', '/seeds/new', async (visit) => {
    const { id } = await seeds.create(visit.principal, visit.workspace.slug, readSeedForm(visit.request))
    return { path: `${visit.base}/seeds/${id}`, notice: notice`Seed created. Add what you find out.` }
  })
}

/** The view that the URL names, which is remembered, or the last one. */
function chooseView({ request, remember }: WorkspaceVisit): SeedView {
  const chosen = readOneOf(request, 'view', seedViews)
  if (chosen === undefined) return request.visit.recall(viewCookie) === 'board' ? 'board' : 'list'
  remember(viewCookie, chosen, viewCookieSeconds)
  return chosen
}
