import type { App } from '../../http/app-types.ts'
import { listEvents } from './events.schemas.ts'
import type { EventsService } from './events.service.ts'

export function eventsRoutes(app: App, events: EventsService): void {
  app.get(
    '/v1/workspaces/:slug/events',
    { schema: listEvents },
    async ({ principal, params, query }, reply) =>
      reply.sendPage(await events.list(principal, params.slug, query)),
  )
}
