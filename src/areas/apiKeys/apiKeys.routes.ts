import type { App } from '../../http/app-types.ts'
import { createApiKey, listApiKeys, revokeApiKey } from './apiKeys.schemas.ts'
import type { ApiKeysService } from './apiKeys.service.ts'

export function apiKeysRoutes(app: App, apiKeys: ApiKeysService): void {
  app.get('/v1/api-keys', { schema: listApiKeys }, (request) => apiKeys.list(request.principal))

  app.post('/v1/api-keys', { schema: createApiKey }, (request) =>
    apiKeys.create(request.principal, request.body),
  )

  app.post('/v1/api-keys/:apiKeyId/revoke', { schema: revokeApiKey }, async (request) => {
    await apiKeys.revoke(request.principal, request.params.apiKeyId)
    return { ok: true as const }
  })
}
