import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { workspacesAgentPolicy, workspacesUpdateAgentPolicy } from './agent-policy.schemas.ts'
import { versionOfPolicy, type AgentPolicyService } from './agent-policy.service.ts'

const url = '/v1/workspaces/:slug/agent-policy'

export function agentPolicyRoutes(app: App, policy: AgentPolicyService): void {
  app.get(
    url,
    { schema: workspacesAgentPolicy, config: { isVersioned: true } },
    ({ principal, params }, reply) =>
      reply.sendVersioned(policy.get(principal, params.slug), versionOfPolicy),
  )

  app.patch(
    url,
    { schema: workspacesUpdateAgentPolicy, config: { isVersioned: true } },
    ({ principal, params, body }) => policy.update(principal, params.slug, body).then(toOk),
  )
}
