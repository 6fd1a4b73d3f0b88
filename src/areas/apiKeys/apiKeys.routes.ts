import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import { apiKeysCreate, apiKeysList, apiKeysRevoke } from './apiKeys.schemas.ts'
import type { ApiKeysService } from './apiKeys.service.ts'

export function apiKeysRoutes(app: App, apiKeys: ApiKeysService): void {
  app.get('/v1/api-keys', { schema: apiKeysList }, (request) => apiKeys.list(request.principal))

  app.post('/v1/api-keys', { schema: apiKeysCreate }, ({ body }, reply) =>
    reply.answerChange(
      (principal) => apiKeys.create(principal, body),
      (created) => created,
    ),
  )

  app.post('/v1/api-keys/:apiKeyId/revoke', { schema: apiKeysRevoke }, ({ params }, reply) =>
    reply.answerChange((principal) => apiKeys.revoke(principal, params.apiKeyId), toOk),
  )
}
