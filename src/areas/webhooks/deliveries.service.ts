import type { SecretBox } from '../../platform/secrets/secret-box.port.ts'
import type { Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import type { Principal } from '../../domain/principal.ts'
import { parseTime } from '../../kernel/times.ts'
import { createTurns } from '../../concurrency/turns.ts'
import type { DeliveryStatus, SendWebhook } from '../../domain/webhooks.ts'
import { listDeliveries, redeliver, redeliverBetween } from './deliveries.repository.ts'
import { judgeAnswer } from './delivery-outcomes.ts'
import { createWebhookAccess, dataOf, type WebhookAccessOptions, type WebhookPath } from './webhook-access.ts'
import { makeWebhookRequest } from './webhook-requests.ts'
import { findWebhookSecrets, type WebhookRow } from './webhooks.repository.ts'
import type { WebhookDelivery, WebhookTest } from './webhooks.schemas.ts'

export type { WebhookDelivery, WebhookTest }

export interface DeliveriesRequest extends PageRequest {
  status?: DeliveryStatus
}

/** What is sent to webhooks, for those who manage them. */
export interface DeliveriesService {
  /** Sends a test, and waits for the answer. */
  test(principal: Principal, path: WebhookPath): Promise<WebhookTest>
  /** Newest first. */
  list(principal: Principal, path: WebhookPath, request: DeliveriesRequest): Promise<Page<WebhookDelivery>>
  /** Makes a delivery pending again. Throws `webhook_disabled`, and `not_found` for a delivery of another webhook. */
  redeliver(principal: Principal, path: WebhookPath, deliveryId: string): Promise<void>
  /** Makes the deliveries of all events of a time. Returns their number. Throws `webhook_disabled` and `too_many_deliveries`. */
  redeliverSince(
    principal: Principal,
    path: WebhookPath,
    input: { since: string; until?: string },
  ): Promise<number>
}

export interface DeliveriesServiceOptions extends WebhookAccessOptions {
  clock: Clock
  secretBox: SecretBox
  send: SendWebhook
  userAgent: string
  /** Called when deliveries have become due. */
  onDeliveries: () => void
}

/** The most events of one `redeliverSince`. */
export const redeliveriesMax = 10_000

export function createDeliveriesService(options: DeliveriesServiceOptions): DeliveriesService {
  const { db, clock, changes, send, onDeliveries } = options
  const { requireWebhook, changeWebhook, lockWebhook } = createWebhookAccess(options)
  // A test is a request of this process to any server. So they do not become many.
  const testTurns = createTurns({ atOnceMax: 1, waitingMax: 4, waitMsMax: 2_500 })

  /** Asks the receiver of a webhook. */
  async function sendTest(workspaceId: string, webhook: WebhookRow): Promise<WebhookTest> {
    const secrets = await findWebhookSecrets(db, workspaceId, webhook.id)
    if (!secrets) throw errors.notFound()
    const now = clock.now()
    const request = makeWebhookRequest(options, {
      url: webhook.url,
      id: createId(),
      payload: {
        type: 'webhook.test',
        timestamp: now.toISOString(),
        data: { webhookId: webhook.id, workspaceId },
        cursor: null,
      },
      secrets,
      now,
    })
    const answer = request ? await send(request, neverAborted) : { error: 'secret_unreadable' as const }
    const outcome = judgeAnswer(answer, { attempts: 1, slowedCount: 0, now, random: () => 0 })
    const { lastStatus, lastError } = outcome
    return { delivered: outcome.status === 'delivered', status: lastStatus, error: lastError }
  }

  return {
    async test(principal, path) {
      const { workspace, webhook } = await requireWebhook(principal, path, 'webhooks.test')
      const end = await testTurns.take(workspace.id, principal.user.id)
      let result: WebhookTest
      try {
        result = await sendTest(workspace.id, webhook)
      } finally {
        end()
      }
      return changes.makeIn(principal, workspace, lockWebhook(webhook.id), async ({ appendEvent }) => {
        const { delivered } = result
        appendEvent({ type: 'webhook.tested', data: { ...dataOf(webhook), delivered } })
        return result
      })
    },

    async list(principal, path, { status, ...page }) {
      const { webhook } = await requireWebhook(principal, path, 'webhooks.listDeliveries')
      return readPage<WebhookDelivery>(page, {
        listId: `webhooks.listDeliveries ${webhook.id} ${status ?? ''}`,
        order: 'newestFirst',
        read: (range) => listDeliveries(db, { webhookId: webhook.id, status, ...range }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async redeliver(principal, path, deliveryId) {
      await changeWebhook(
        principal,
        path,
        'webhooks.redeliver',
        async ({ tx, now, appendEvent }, webhook) => {
          const delivery = { webhookId: webhook.id, eventId: deliveryId, now }
          if (!isId(deliveryId) || !(await redeliver(tx, delivery))) throw errors.notFound()
          if (webhook.disabledReason !== null) throw errors.webhookDisabled()
          appendEvent({ type: 'webhook.redelivered', data: { ...dataOf(webhook), events: 1 } })
        },
      )
      onDeliveries()
    },

    async redeliverSince(principal, path, { since, until }) {
      const deliveries = await changeWebhook(
        principal,
        path,
        'webhooks.redeliverSince',
        async ({ tx, now, appendEvent }, webhook, workspaceId) => {
          if (webhook.disabledReason !== null) throw errors.webhookDisabled()
          const count = await redeliverAll(tx, webhook, {
            workspaceId,
            since: parseTime(since),
            until: until === undefined ? now : parseTime(until),
            now,
          })
          appendEvent({ type: 'webhook.redelivered', data: { ...dataOf(webhook), events: count } })
          return count
        },
      )
      onDeliveries()
      return deliveries
    },
  }
}

const neverAborted = new AbortController().signal

async function redeliverAll(
  tx: Executor,
  { id, types }: WebhookRow,
  range: { workspaceId: string; since: Date; until: Date; now: Date },
): Promise<number> {
  const count = await redeliverBetween(tx, { ...range, webhookId: id, types, limit: redeliveriesMax })
  if (count === undefined) throw errors.tooManyDeliveries()
  return count
}
