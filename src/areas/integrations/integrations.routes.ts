import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { integrationsList, integrationsListCalls, integrationsRevoke } from './integrations.schemas.ts'
import type { IntegrationsService } from './integrations.service.ts'

export function integrationsRoutes(app: App, integrations: IntegrationsService): void {
  app.get(
    '/v1/workspaces/:slug/integrations',
    { schema: integrationsList },
    ({ principal, params, query }, reply) => reply.sendPage(integrations.list(principal, params.slug, query)),
  )

  app.get(
    '/v1/workspaces/:slug/integrations/:id/calls',
    { schema: integrationsListCalls },
    ({ principal, params, query }, reply) =>
      reply.sendPage(integrations.listCalls(principal, params.slug, params.id, query)),
  )

  app.post(
    '/v1/workspaces/:slug/integrations/:id/revoke',
    { schema: integrationsRevoke },
    ({ params }, reply) =>
      reply.answerChange((principal) => integrations.revoke(principal, params.slug, params.id), toOk),
  )
}
