import type { App } from '../../http/app-types.ts'
import { agentReadValidationKit } from './agent.schemas.ts'
import type { KitService } from './agent.service.ts'

export function agentRoutes(app: App, kit: KitService): void {
  app.post(
    // The router reads `::` as a literal colon; a single one starts a parameter.
    '/agent/v1/validation-kit::read',
    { schema: agentReadValidationKit, config: { optionalBody: true } },
    ({ agent, body }, reply) => reply.sendJson(kit.read(agent, body)),
  )
}
