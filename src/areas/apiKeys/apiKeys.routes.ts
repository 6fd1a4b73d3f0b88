import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  apiKeysCreate,
  apiKeysCreateRestricted,
  apiKeysGet,
  apiKeysList,
  apiKeysRestrict,
  apiKeysRestrictions,
  apiKeysRevoke,
  apiKeysRotate,
} from './apiKeys.schemas.ts'
import type { ApiKeysService } from './apiKeys.service.ts'

// A key that is bound to workspaces may read, rotate and revoke itself.
const config = { forBoundKeys: true }

export function apiKeysRoutes(app: App, apiKeys: ApiKeysService): void {
  app.get('/v1/api-keys', { schema: apiKeysList, config }, (request) => apiKeys.list(request.principal))

  app.post('/v1/api-keys', { schema: apiKeysCreate }, ({ body }, reply) =>
    reply.answerChange(
      (principal) => apiKeys.create(principal, body),
      (created) => created,
    ),
  )

  app.post('/v1/api-keys/restricted', { schema: apiKeysCreateRestricted }, ({ body }, reply) =>
    reply.answerChange(
      (principal) => apiKeys.createRestricted(principal, body),
      (created) => created,
    ),
  )

  app.get('/v1/api-keys/:apiKeyId', { schema: apiKeysGet, config }, ({ principal, params }) =>
    apiKeys.get(principal, params.apiKeyId),
  )

  app.get(
    '/v1/api-keys/:apiKeyId/restrictions',
    { schema: apiKeysRestrictions, config },
    ({ principal, params }) => apiKeys.get(principal, params.apiKeyId),
  )

  app.put('/v1/api-keys/:apiKeyId/restrictions', { schema: apiKeysRestrict }, ({ principal, params, body }) =>
    apiKeys.restrict(principal, params.apiKeyId, body).then(toOk),
  )

  app.post(
    '/v1/api-keys/:apiKeyId/rotate',
    { schema: apiKeysRotate, config: { ...config, optionalBody: true } },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => apiKeys.rotate(principal, params.apiKeyId, body),
        (created) => created,
      ),
  )

  app.post('/v1/api-keys/:apiKeyId/revoke', { schema: apiKeysRevoke, config }, ({ params }, reply) =>
    reply.answerChange((principal) => apiKeys.revoke(principal, params.apiKeyId), toOk),
  )
}
