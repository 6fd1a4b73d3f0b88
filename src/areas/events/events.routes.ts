import type { App } from '../../http/app-types.ts'
import { eventsGet, eventsList } from './events.schemas.ts'
import type { EventsService } from './events.service.ts'

export function eventsRoutes(app: App, events: EventsService): void {
  app.get('/v1/workspaces/:slug/events', { schema: eventsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(events.list(principal, params.slug, query)),
  )

  app.get('/v1/workspaces/:slug/events/:eventId', { schema: eventsGet }, ({ principal, params }, reply) =>
    reply.sendJson(events.get(principal, params.slug, params.eventId)),
  )
}
