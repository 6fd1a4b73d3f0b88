import { readQuery } from '../components/lists.ts'
import { readListView } from '../components/pager.ts'
import type { Services } from '../../services/services.ts'
import type { Seed } from '../../areas/seeds/seeds.service.ts'
import { errors } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Page as ListPage } from '../../kernel/pagination.ts'
import { seedQueryLengthMax, seedSorts, seedStatuses, type SeedStatus } from '../../domain/seeds.ts'
import type { Page } from '../plugins/pages.ts'
import { notice } from '../components/notice.ts'
import { readSearch } from '../views/search-form.views.ts'
import { readSeedForm, renderSeedForm } from './seed-form.views.ts'
import { renderDeletedSeeds } from './seed-deletion.views.ts'
import { renderSeedBoard } from './seed-board.views.ts'
import { readChangesUrl } from '../views/events.views.ts'
import { renderSeedList, seedChoices, seedViews, type SeedSearch, type SeedView } from './seeds.views.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'

const seedsOfPage = 50
const seedsOfColumn = 20

const viewCookie = 'seeds-view'
const viewCookieSeconds = 365 * 24 * 60 * 60

/** The seeds of a workspace, as a list and as a board, and the form for a new one. */
export function seedsPages(
  { page, creation }: WorkspacePages,
  { events, seeds }: Pick<Services, 'events' | 'seeds'>,
): void {
  const showSeeds = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const search = readSeedSearch(visit)
    const filter = toFilter(search, principal.user.id)
    const list = (position: object, status: SeedStatus | undefined) =>
      seeds.list(principal, workspace.slug, {
        ...{ ...filter, sort: search.sort },
        ...(status !== undefined && { status }),
        ...position,
      })
    const countSeeds = async () => seeds.countByStatus(principal, workspace.slug, filter)
    if (chooseView(visit) === 'board') {
      const changesUrl = await readChangesUrl({ events }, visit)
      const [counts, ...columns] = await Promise.all([
        countSeeds(),
        ...seedStatuses.map(async (status) => ({
          status,
          page: await list({ limit: seedsOfColumn }, status),
        })),
      ])
      const about = await readAbout(visit, ...columns.map(({ page }) => page))
      return renderSeedBoard(visit, search, { changesUrl, columns, counts, ...about })
    }
    const [counts, shown] = await Promise.all([
      countSeeds(),
      readListView(request, (position) => list({ limit: seedsOfPage, ...position }, search.status)),
    ])
    return renderSeedList(visit, search, { list: shown, counts, ...(await readAbout(visit, shown)) })
  }

  /** The faces of some seeds, and whether the person has never made a seed. */
  const readAbout = async ({ principal, workspace }: WorkspaceVisit, ...pages: ListPage<Seed>[]) => {
    const shown = pages.flatMap(({ items }) => parseJson(items))
    const createdByUserId = principal.user.id
    const [faces, own] = await Promise.all([
      seeds.listFaces(
        principal,
        workspace.slug,
        shown.map(({ id }) => id),
      ),
      shown.some((seed) => seed.createdByUserId === createdByUserId)
        ? undefined
        : seeds.countByStatus(principal, workspace.slug, { createdByUserId }),
    ])
    return { faces, isNewcomer: own !== undefined && seedStatuses.every((status) => own[status] === 0) }
  }

  const showNew = async (visit: WorkspaceVisit): Promise<Page> => {
    if (!visit.may('seeds.create')) throw errors.roleInsufficient()
    return renderSeedForm(visit)
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

function toFilter({ text, of }: SeedSearch, userId: string) {
  return {
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
