import type { App } from '../../http/app-types.ts'
import { toOk } from '../../http/requests/idempotency.ts'
import {
  webhooksCreate,
  webhooksDelete,
  webhooksGet,
  webhooksList,
  webhooksListDeliveries,
  webhooksRedeliver,
  webhooksRedeliverSince,
  webhooksResume,
  webhooksRotateSecret,
  webhooksSample,
  webhooksTest,
  webhooksUpdate,
} from './webhooks.schemas.ts'
import type { DeliveriesService } from './deliveries.service.ts'
import { versionOfWebhook, type WebhooksService } from './webhooks.service.ts'

const webhooksUrl = '/v1/workspaces/:slug/webhooks'
const webhookUrl = `${webhooksUrl}/:webhookId` as const

export function webhooksRoutes(
  app: App,
  { webhooks, deliveries }: { webhooks: WebhooksService; deliveries: DeliveriesService },
): void {
  app.get(webhooksUrl, { schema: webhooksList }, ({ principal, params }) =>
    webhooks.list(principal, params.slug),
  )

  app.post(
    webhooksUrl,
    {
      schema: webhooksCreate,
      config: { creates: { part: 'webhook', url: `${webhooksUrl}/:id`, versionOf: versionOfWebhook } },
    },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => webhooks.create(principal, params.slug, body),
        (created) => ({ ok: true as const, ...created }),
      ),
  )

  app.get(
    webhookUrl,
    { schema: webhooksGet, config: { isVersioned: true } },
    ({ principal, params }, reply) => reply.sendVersioned(webhooks.get(principal, params), versionOfWebhook),
  )

  app.patch(
    webhookUrl,
    { schema: webhooksUpdate, config: { isVersioned: true } },
    ({ principal, params, body }) => webhooks.update(principal, params, body).then(toOk),
  )

  app.delete(webhookUrl, { schema: webhooksDelete }, ({ principal, params }) =>
    webhooks.delete(principal, params).then(toOk),
  )

  app.post(
    `${webhookUrl}/rotate-secret`,
    { schema: webhooksRotateSecret, config: { optionalBody: true, isVersioned: true } },
    ({ params, body }, reply) =>
      reply.answerChange(
        (principal) => webhooks.rotateSecret(principal, params, body),
        (rotated) => ({ ok: true as const, ...rotated }),
      ),
  )

  app.post(`${webhookUrl}/resume`, { schema: webhooksResume }, ({ params }, reply) =>
    reply.answerChange((principal) => webhooks.resume(principal, params), toOk),
  )

  app.post(`${webhookUrl}/test`, { schema: webhooksTest }, ({ params }, reply) =>
    reply.answerChange(
      (principal) => deliveries.test(principal, params),
      (result) => ({ ok: true as const, ...result }),
    ),
  )

  app.post(`${webhookUrl}/sample`, { schema: webhooksSample }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => deliveries.sample(principal, params, body.type),
      (result) => ({ ok: true as const, ...result }),
    ),
  )

  app.get(
    `${webhookUrl}/deliveries`,
    { schema: webhooksListDeliveries },
    ({ principal, params, query }, reply) => reply.sendPage(deliveries.list(principal, params, query)),
  )

  app.post(
    `${webhookUrl}/deliveries/:deliveryId/redeliver`,
    { schema: webhooksRedeliver },
    ({ params }, reply) =>
      reply.answerChange((principal) => deliveries.redeliver(principal, params, params.deliveryId), toOk),
  )

  app.post(`${webhookUrl}/redeliver`, { schema: webhooksRedeliverSince }, ({ params, body }, reply) =>
    reply.answerChange(
      (principal) => deliveries.redeliverSince(principal, params, body),
      (redelivery) => ({ ok: true as const, ...redelivery }),
    ),
  )
}
