import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { eventsChanges, eventsGet, eventsList, eventsStream } from './events.schemas.ts'
import type { EventsService, StreamRequest } from './events.service.ts'

export function eventsRoutes(app: App, events: EventsService): void {
  app.get('/v1/workspaces/:slug/events', { schema: eventsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(events.list(principal, params.slug, query)),
  )

  app.get(
    '/v1/workspaces/:slug/events/changes',
    { schema: eventsChanges, config: { isLarge: true } },
    ({ principal, params, query }, reply) => reply.sendJson(events.changes(principal, params.slug, query)),
  )

  // Without HEAD, which would open a stream that nobody reads.
  app.get(
    '/v1/workspaces/:slug/events/stream',
    { schema: eventsStream, exposeHeadRoute: false },
    (request, reply) =>
      reply.streamEvents((listener) =>
        events.stream(request.principal, request.params.slug, toStreamRequest(request), listener),
      ),
  )

  app.get('/v1/workspaces/:slug/events/:eventId', { schema: eventsGet }, ({ principal, params }, reply) =>
    reply.sendJson(events.get(principal, params.slug, params.eventId)),
  )
}

function toStreamRequest(
  request: FastifyRequest & {
    query: Omit<StreamRequest, 'field' | 'authenticateAgain'>
    headers: { 'last-event-id'?: string | undefined }
  },
): StreamRequest {
  const lastEventId = request.headers['last-event-id']
  return {
    ...request.query,
    ...(lastEventId !== undefined && { after: lastEventId }),
    field: lastEventId === undefined ? 'after' : 'Last-Event-ID',
    authenticateAgain: () => request.authenticateAgain(),
  }
}
