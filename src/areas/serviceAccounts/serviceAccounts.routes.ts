import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  serviceAccountsCreate,
  serviceAccountsCreateKey,
  serviceAccountsDelete,
  serviceAccountsGet,
  serviceAccountsList,
  serviceAccountsListKeys,
  serviceAccountsRevokeKey,
  serviceAccountsRotateKey,
  serviceAccountsUpdate,
} from './serviceAccounts.schemas.ts'
import { versionOfServiceAccount, type ServiceAccountsService } from './serviceAccounts.service.ts'

const accountsUrl = '/v1/workspaces/:slug/service-accounts'
const accountUrl = `${accountsUrl}/:serviceAccountId` as const
const keysUrl = `${accountUrl}/api-keys` as const
const keyUrl = `${keysUrl}/:apiKeyId` as const

export function serviceAccountsRoutes(app: App, accounts: ServiceAccountsService): void {
  app.get(accountsUrl, { schema: serviceAccountsList }, ({ principal, params }) =>
    accounts.list(principal, params.slug),
  )

  app.post(
    accountsUrl,
    {
      schema: serviceAccountsCreate,
      config: {
        creates: { part: 'serviceAccount', url: `${accountsUrl}/:id`, versionOf: versionOfServiceAccount },
      },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => accounts.create(principal, params.slug, body),
        (serviceAccount) => ({ ok: true as const, serviceAccount }),
      ),
  )

  app.get(
    accountUrl,
    { schema: serviceAccountsGet, config: { isVersioned: true } },
    ({ principal, params }, reply) =>
      reply.sendVersioned(accounts.get(principal, params), versionOfServiceAccount),
  )

  app.patch(
    accountUrl,
    { schema: serviceAccountsUpdate, config: { isVersioned: true } },
    ({ principal, params, body }) => accounts.update(principal, params, body).then(toOk),
  )

  app.delete(accountUrl, { schema: serviceAccountsDelete }, ({ principal, params }) =>
    accounts.delete(principal, params).then(toOk),
  )

  app.get(keysUrl, { schema: serviceAccountsListKeys }, ({ principal, params }) =>
    accounts.listKeys(principal, params),
  )

  app.post(keysUrl, { schema: serviceAccountsCreateKey }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => accounts.createKey(principal, params, body),
      (created) => created,
    ),
  )

  app.post(
    `${keyUrl}/rotate`,
    { schema: serviceAccountsRotateKey, config: { optionalBody: true } },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => accounts.rotateKey(principal, params, body),
        (created) => created,
      ),
  )

  app.post(`${keyUrl}/revoke`, { schema: serviceAccountsRevokeKey }, ({ params }, reply) =>
    reply.answerChange((principal) => accounts.revokeKey(principal, params), toOk),
  )
}
