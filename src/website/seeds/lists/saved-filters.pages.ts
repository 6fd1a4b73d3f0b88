import { errors } from '../../../kernel/errors.ts'
import type { Services } from '../../../services/services.ts'
import { notice } from '../../components/notice.ts'
import { readField } from '../../components/sent-form.ts'
import type { WorkspacePages, WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import {
  filterReaders,
  mayChange,
  renderFilter,
  renderFilterList,
  savedQueryField,
} from './saved-filters.views.ts'
import { pathOfSearch, readSeedSearch, toSaved } from './seed-search.ts'

/** Saved filters of lists of seeds. */
export function savedFiltersPages(
  { page, action, creation }: WorkspacePages,
  { savedFilters }: Pick<Services, 'savedFilters'>,
): void {
  const pathOf = ({ request, workspace }: WorkspaceVisit) => ({
    slug: workspace.slug,
    filterId: request.params.id,
  })

  /** Whether the form shares it; undefined if the form does not ask. */
  const readShared = ({ request }: WorkspaceVisit) => {
    const chosen = filterReaders.find((reader) => reader === readField(request, 'for'))
    return chosen && chosen === 'workspace'
  }

  page('/filters', async (visit) =>
    renderFilterList(visit, await savedFilters.listAll(visit.principal, visit.workspace.slug)),
  )

  const readSent = ({ request }: WorkspaceVisit) =>
    readSeedSearch({ query: Object.fromEntries(new URLSearchParams(readField(request, savedQueryField))) })

  creation('/filters', '/seeds', async (visit) => {
    const { base, principal, request, workspace } = visit
    const search = readSent(visit)
    const { name } = await savedFilters.create(principal, workspace.slug, {
      name: readField(request, 'name'),
      shared: readShared(visit) ?? false,
      filters: toSaved(search),
    })
    return { path: pathOfSearch(base, search), notice: notice`The filters were saved as “${name}”.` }
  })

  action('/filters/replace', '/seeds', async (visit) => {
    const { base, principal, request, workspace } = visit
    const search = readSent(visit)
    await savedFilters.update(
      principal,
      { slug: workspace.slug, filterId: readField(request, 'filterId') },
      { filters: toSaved(search) },
    )
    return { path: pathOfSearch(base, search), notice: notice`The saved filter has these filters now.` }
  })

  page('/filters/:id', async (visit) => {
    const filter = await savedFilters.get(visit.principal, pathOf(visit))
    if (!mayChange(visit, filter)) throw errors.roleInsufficient()
    return renderFilter(visit, filter)
  })

  action('/filters/:id/edit', '/filters/:id', async (visit) => {
    await savedFilters.update(visit.principal, pathOf(visit), {
      name: readField(visit.request, 'name'),
      shared: readShared(visit),
    })
    return { path: `${visit.base}/filters`, notice: notice`Saved.` }
  })

  action('/filters/:id/delete', '/filters/:id', async (visit) => {
    const name = await savedFilters.delete(visit.principal, pathOf(visit))
    return { path: `${visit.base}/filters`, notice: notice`“${name}” was deleted.` }
  })
}
