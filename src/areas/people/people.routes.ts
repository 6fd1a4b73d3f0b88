import type { App } from '../../http/app-types.ts'
import { peopleList } from './people.schemas.ts'
import type { PeopleService } from './people.service.ts'

export function peopleRoutes(app: App, people: PeopleService): void {
  app.get('/v1/workspaces/:slug/people', { schema: peopleList }, ({ principal, params, query }, reply) =>
    reply.sendPage(people.list(principal, params.slug, query)),
  )
}
