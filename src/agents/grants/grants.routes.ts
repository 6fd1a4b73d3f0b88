import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  integrationsGet,
  integrationsList,
  integrationsListCalls,
  integrationsRevoke,
} from './grants.schemas.ts'
import { versionOfGrant, type GrantsService } from './grants.service.ts'

const grantUrl = '/v1/workspaces/:slug/integrations/:id'

export function grantsRoutes(app: App, grants: GrantsService): void {
  app.get(
    '/v1/workspaces/:slug/integrations',
    { schema: integrationsList },
    ({ principal, params, query }, reply) => reply.sendPage(grants.list(principal, params.slug, query)),
  )

  app.get(
    grantUrl,
    { schema: integrationsGet, config: { isVersioned: true } },
    ({ principal, params }, reply) =>
      reply.sendVersioned(grants.getLive(principal, params.slug, params.id), versionOfGrant),
  )

  app.get(`${grantUrl}/calls`, { schema: integrationsListCalls }, ({ principal, params, query }, reply) =>
    reply.sendPage(grants.listCalls(principal, params.slug, params.id, query)),
  )

  app.post(`${grantUrl}/revoke`, { schema: integrationsRevoke }, ({ params }, reply) =>
    reply.answerChange((principal) => grants.revoke(principal, params.slug, params.id), toOk),
  )
}
