import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/idempotency.ts'
import { listIntegrations, revokeIntegration } from './integrations.schemas.ts'
import type { IntegrationsService } from './integrations.service.ts'

export function integrationsRoutes(app: App, integrations: IntegrationsService): void {
  app.get(
    '/v1/workspaces/:slug/integrations',
    { schema: listIntegrations },
    async ({ principal, params, query }, reply) =>
      reply.sendPage(await integrations.list(principal, params.slug, query)),
  )

  app.post(
    '/v1/workspaces/:slug/integrations/:id/revoke',
    { schema: revokeIntegration },
    ({ params }, reply) =>
      reply.answerChange((principal) => integrations.revoke(principal, params.slug, params.id), toOk),
  )
}
