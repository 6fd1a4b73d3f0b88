import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  agentRequestsAskable,
  agentRequestsCancel,
  agentRequestsGet,
  agentRequestsList,
} from './agentRequests.schemas.ts'
import type { AgentRequestsService } from './agentRequests.service.ts'

const requestsUrl = '/v1/workspaces/:slug/agent-requests'

export function agentRequestsRoutes(app: App, agentRequests: AgentRequestsService): void {
  app.get(requestsUrl, { schema: agentRequestsList }, ({ principal, params, query }, reply) =>
    reply.sendPage(agentRequests.list(principal, params.slug, query)),
  )

  app.get(`${requestsUrl}/agents`, { schema: agentRequestsAskable }, ({ principal, params }) =>
    agentRequests.askable(principal, params.slug),
  )

  app.get(`${requestsUrl}/:agentRequestId`, { schema: agentRequestsGet }, ({ principal, params }) =>
    agentRequests.get(principal, params.slug, params.agentRequestId),
  )

  app.post(`${requestsUrl}/:agentRequestId/cancel`, { schema: agentRequestsCancel }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => agentRequests.cancel(principal, params.slug, params.agentRequestId),
      toOk,
    ),
  )
}
