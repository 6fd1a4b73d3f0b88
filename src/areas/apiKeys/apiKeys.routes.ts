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
import { apiKeysListOfWorkspace } from './workspace-keys.schemas.ts'
import type { WorkspaceKeysService } from './workspace-keys.service.ts'

// A key that is bound to workspaces may read, rotate and revoke itself.
const config = { forBoundKeys: true }
// That of a service account may only read itself: owners and admins manage it.
const forServices = { ...config, forServices: true }
// What others make or change may do no more than they may.
const forKeysBelowOwner = true
const creates = { url: '/v1/api-keys/:id' }

export function apiKeysRoutes(
  app: App,
  { apiKeys, workspaceKeys }: { apiKeys: ApiKeysService; workspaceKeys: WorkspaceKeysService },
): void {
  app.get(
    '/v1/workspaces/:slug/api-keys',
    { schema: apiKeysListOfWorkspace },
    ({ principal, params, query }, reply) =>
      reply.sendPage(workspaceKeys.list(principal, params.slug, query)),
  )

  app.get('/v1/api-keys', { schema: apiKeysList, config: forServices }, (request) =>
    apiKeys.list(request.principal),
  )

  app.post(
    '/v1/api-keys',
    { schema: apiKeysCreate, config: { forKeysBelowOwner, creates } },
    ({ body }, reply) =>
      reply.answerChange(
        (principal) => apiKeys.create(principal, body),
        (created) => created,
      ),
  )

  app.post(
    '/v1/api-keys/restricted',
    { schema: apiKeysCreateRestricted, config: { forKeysBelowOwner, creates } },
    ({ body }, reply) =>
      reply.answerChange(
        (principal) => apiKeys.createRestricted(principal, body),
        (created) => created,
      ),
  )

  app.get('/v1/api-keys/:apiKeyId', { schema: apiKeysGet, config: forServices }, ({ principal, params }) =>
    apiKeys.get(principal, params.apiKeyId),
  )

  app.get(
    '/v1/api-keys/:apiKeyId/restrictions',
    { schema: apiKeysRestrictions, config: forServices },
    ({ principal, params }) => apiKeys.get(principal, params.apiKeyId),
  )

  app.put(
    '/v1/api-keys/:apiKeyId/restrictions',
    { schema: apiKeysRestrict, config: { forKeysBelowOwner } },
    ({ principal, params, body }) => apiKeys.restrict(principal, params.apiKeyId, body).then(toOk),
  )

  app.post(
    '/v1/api-keys/:apiKeyId/rotate',
    { schema: apiKeysRotate, config: { ...config, optionalBody: true, creates } },
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
