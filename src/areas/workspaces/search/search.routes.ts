import type { App } from '../../../http/app-types.ts'
import { workspacesSearch, workspacesSearchCounts } from './search.schemas.ts'
import type { SearchService } from './search.service.ts'

export function searchRoutes(app: App, search: SearchService): void {
  app.get(
    '/v1/workspaces/:slug/search',
    { schema: workspacesSearch },
    ({ principal, params, query }, reply) => reply.sendPage(search.search(principal, params.slug, query)),
  )

  app.get(
    '/v1/workspaces/:slug/search/counts',
    { schema: workspacesSearchCounts },
    ({ principal, params, query }) => search.count(principal, params.slug, query.q),
  )
}
