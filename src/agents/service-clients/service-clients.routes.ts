import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  serviceAccountsCreateClient,
  serviceAccountsListClients,
  serviceAccountsRevokeClient,
  serviceAccountsRotateClient,
} from './service-clients.schemas.ts'
import type { ServiceClientsService } from './service-clients.service.ts'

const clientsUrl = '/v1/workspaces/:slug/service-accounts/:serviceAccountId/clients'

export function serviceClientsRoutes(app: App, clients: ServiceClientsService): void {
  app.get(clientsUrl, { schema: serviceAccountsListClients }, ({ principal, params }) =>
    clients.list(principal, params),
  )

  app.post(clientsUrl, { schema: serviceAccountsCreateClient }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => clients.create(principal, params, body),
      (created) => ({ ok: true as const, ...created }),
    ),
  )

  app.post(
    `${clientsUrl}/:serviceClientId/rotate`,
    { schema: serviceAccountsRotateClient, config: { optionalBody: true } },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => clients.rotate(principal, params, body),
        ({ clientId, secret }) => ({ ok: true as const, clientId, secret }),
      ),
  )

  app.post(
    `${clientsUrl}/:serviceClientId/revoke`,
    { schema: serviceAccountsRevokeClient },
    ({ params }, reply) => reply.answerChange((principal) => clients.revoke(principal, params), toOk),
  )
}
