import type { App } from '../../http/app-types.ts'
import { readValidationKit } from './agent.schemas.ts'
import type { KitService } from './agent.service.ts'

export function agentRoutes(app: App, kit: KitService): void {
  app.post(
    // Two colons are one: with a single one a parameter would begin.
    '/agent/v1/validation-kit::read',
    { schema: readValidationKit, config: { optionalBody: true } },
    async ({ agent, body }) => kit.read(agent, body),
  )
}
