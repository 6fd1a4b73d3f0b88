import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  savedFiltersCreate,
  savedFiltersDelete,
  savedFiltersGet,
  savedFiltersList,
  savedFiltersUpdate,
} from './savedFilters.schemas.ts'
import { versionOfSavedFilter, type SavedFiltersService } from './savedFilters.service.ts'

const filtersUrl = '/v1/workspaces/:slug/saved-filters'
const filterUrl = `${filtersUrl}/:filterId` as const

export function savedFiltersRoutes(app: App, savedFilters: SavedFiltersService): void {
  app.get(filtersUrl, { schema: savedFiltersList }, ({ principal, params, query }, reply) =>
    reply.sendPage(savedFilters.list(principal, params.slug, query)),
  )

  app.post(
    filtersUrl,
    {
      schema: savedFiltersCreate,
      config: {
        creates: { part: 'savedFilter', url: `${filtersUrl}/:id`, versionOf: versionOfSavedFilter },
      },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => savedFilters.create(principal, params.slug, body),
        (savedFilter) => ({ ok: true as const, savedFilter }),
      ),
  )

  app.get(
    filterUrl,
    { schema: savedFiltersGet, config: { isVersioned: true } },
    ({ principal, params }, reply) =>
      reply.sendVersioned(savedFilters.get(principal, params), versionOfSavedFilter),
  )

  app.patch(
    filterUrl,
    { schema: savedFiltersUpdate, config: { isVersioned: true } },
    ({ principal, params, body }) => savedFilters.update(principal, params, body).then(toOk),
  )

  app.delete(filterUrl, { schema: savedFiltersDelete }, ({ principal, params }) =>
    savedFilters.delete(principal, params).then(toOk),
  )
}
