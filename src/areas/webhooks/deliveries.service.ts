import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import type { Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { requireEventTypes } from '../../domain/event-types.ts'
import type { EventType } from '../../domain/events.ts'
import { findKeptSince } from '../events/event-retention.repository.ts'
import type { Principal } from '../../domain/principal.ts'
import { parseTime } from '../../kernel/times.ts'
import { createTurns } from '../../concurrency/turns.ts'
import type { DeliveryStatus, SendWebhook } from '../../domain/webhooks.ts'
import { listDeliveries, redeliver, redeliverBetween } from './deliveries.repository.ts'
import { makeChatRequest } from './chat-messages.ts'
import { judgeAnswer } from './delivery-outcomes.ts'
import { createWebhookAccess, dataOf, type WebhookAccessOptions, type WebhookPath } from './webhook-access.ts'
import { makeWebhookRequest } from './webhook-requests.ts'
import { makeSample } from './webhook-samples.ts'
import { endPause, findWebhookSecrets, type WebhookRow } from './webhooks.repository.ts'
import type { WebhookDelivery, WebhookTest } from './webhooks.schemas.ts'

export type { WebhookDelivery, WebhookTest }

export interface DeliveriesRequest extends PageRequest {
  status?: DeliveryStatus
}

/** What is sent to webhooks, for those who manage them. */
export interface DeliveriesService {
  /** Sends a test, and waits for the answer. A delivered one ends the pause of the webhook. Throws `outgoing_off`. */
  test(principal: Principal, path: WebhookPath): Promise<WebhookTest>
  /** Sends a sample of an event, as `test`. Throws `event_type_unknown` and `outgoing_off`. */
  sample(principal: Principal, path: WebhookPath, type: string): Promise<WebhookTest>
  /** Newest first. */
  list(principal: Principal, path: WebhookPath, request: DeliveriesRequest): Promise<Page<WebhookDelivery>>
  /** Makes a delivery pending again, and ends the pause of the webhook. Throws `webhook_disabled`, and `not_found` for a delivery of another webhook. */
  redeliver(principal: Principal, path: WebhookPath, deliveryId: string): Promise<void>
  /** Makes the deliveries of all events of a time, and ends the pause of the webhook. Throws `webhook_disabled` and `too_many_deliveries`. */
  redeliverSince(
    principal: Principal,
    path: WebhookPath,
    input: { since: string; until?: string },
  ): Promise<Redelivery>
}

/** What `redeliverSince` sends again. */
export interface Redelivery {
  /** The number of events. */
  deliveries: number
  /** Since when events are kept, if that is later than what was asked for. */
  keptSince: string | null
}

export interface DeliveriesServiceOptions extends WebhookAccessOptions {
  clock: Clock
  secretBox: SecretBox
  send: SendWebhook
  userAgent: string
  /** What the URLs of seeds begin with. */
  seedUrlPrefix: string
  /** Whether requests are sent at all. */
  isOutgoing: boolean
  /** Called when deliveries have become due. */
  onDeliveries: () => void
}

/** The most events of one `redeliverSince`. */
export const redeliveriesMax = 10_000

export function createDeliveriesService(options: DeliveriesServiceOptions): DeliveriesService {
  const { db, clock, changes, onDeliveries, seedUrlPrefix } = options
  const { requireWebhook, changeWebhook, lockWebhook } = createWebhookAccess(options)
  // A test is a request of this process to any server. So they do not become many.
  const testTurns = createTurns({ atOnceMax: 1, waitingMax: 4, waitMsMax: 2_500 })

  /** Sends something that has not happened to the receiver of a webhook. */
  async function send(
    workspaceId: string,
    { id: webhookId, url, format }: WebhookRow,
    type: EventType | undefined,
  ): Promise<WebhookTest> {
    const now = clock.now()
    const id = createId()
    const sample = type && makeSample(type, { id, workspaceId, now, seedUrlPrefix })
    if (format !== null) {
      const lines = [sample ? { text: sample.summary, url: sample.url } : testLine]
      return judge(
        await options.send(
          makeChatRequest(format, { url, userAgent: options.userAgent, lines }),
          neverAborted,
        ),
      )
    }
    const secrets = await findWebhookSecrets(db, { workspaceId, id: webhookId, now })
    if (!secrets) throw errors.notFound()
    const data = sample ?? { webhookId, workspaceId }
    const request = makeWebhookRequest(options, {
      ...{ url, webhookId, workspaceId, id },
      payload: { type: type ?? 'webhook.test', timestamp: now.toISOString(), data, cursor: null },
      ...{ secrets, now },
    })
    return judge(
      request ? await options.send(request, neverAborted) : { error: 'secret_unreadable' as const },
    )
  }

  function judge(answer: Parameters<typeof judgeAnswer>[0]): WebhookTest {
    const outcome = judgeAnswer(answer, {
      ...{ attempts: 1, slowedCount: 0, now: clock.now() },
      random: () => 0,
    })
    const { lastStatus, lastError } = outcome
    return { delivered: outcome.status === 'delivered', status: lastStatus, error: lastError }
  }

  /** Sends a test, or a sample of an event, in turn, and appends that it was sent. */
  async function test(
    principal: Principal,
    path: WebhookPath,
    { action, type }: { action: 'webhooks.test' | 'webhooks.sample'; type?: EventType },
  ): Promise<WebhookTest> {
    const { workspace, webhook } = await requireWebhook(principal, path, action)
    if (!options.isOutgoing) throw errors.outgoingOff()
    const end = await testTurns.take(workspace.id, principal.user.id)
    let result: WebhookTest
    try {
      result = await send(workspace.id, webhook, type)
    } finally {
      end()
    }
    const { delivered } = result
    const ended = await changes.makeIn(
      principal,
      workspace,
      lockWebhook(webhook.id),
      async ({ tx, now, appendEvent }) => {
        if (delivered) await endPause(tx, webhook.id, now)
        appendEvent({
          type: 'webhook.tested',
          data: { ...dataOf(webhook), delivered, sampleType: type ?? null },
        })
        return result
      },
    )
    if (delivered) onDeliveries()
    return ended
  }

  return {
    test: (principal, path) => test(principal, path, { action: 'webhooks.test' }),

    async sample(principal, path, type) {
      const [known] = requireEventTypes([type], 'type')
      return test(principal, path, { action: 'webhooks.sample', ...(known && { type: known }) })
    },

    async list(principal, path, { status, ...page }) {
      const { webhook } = await requireWebhook(principal, path, 'webhooks.listDeliveries')
      return readPage<WebhookDelivery>(page, {
        listId: `webhooks.listDeliveries ${webhook.id} ${status ?? ''}`,
        order: 'newestFirst',
        read: (range) =>
          listDeliveries(db, { webhookId: webhook.id, pausedUntil: webhook.pausedUntil, status, ...range }),
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
          await endPause(tx, webhook.id, now)
          appendEvent({ type: 'webhook.redelivered', data: { ...dataOf(webhook), events: 1 } })
        },
      )
      onDeliveries()
    },

    async redeliverSince(principal, path, { since, until }) {
      const redelivery = await changeWebhook(
        principal,
        path,
        'webhooks.redeliverSince',
        async ({ tx, now, appendEvent }, webhook, workspaceId) => {
          if (webhook.disabledReason !== null) throw errors.webhookDisabled()
          const from = parseTime(since)
          const count = await redeliverAll(tx, webhook, {
            workspaceId,
            since: from,
            until: until === undefined ? now : parseTime(until),
            now,
          })
          await endPause(tx, webhook.id, now)
          appendEvent({ type: 'webhook.redelivered', data: { ...dataOf(webhook), events: count } })
          const keptSince = await findKeptSince(tx, { workspaceId, now })
          return {
            deliveries: count,
            keptSince: keptSince && keptSince > from ? keptSince.toISOString() : null,
          }
        },
      )
      onDeliveries()
      return redelivery
    },
  }
}

/** The message that a test sends to a chat. */
const testLine = { text: 'This is a test: what happens in the workspace will be told here.', url: null }

const neverAborted = new AbortController().signal

async function redeliverAll(
  tx: Executor,
  webhook: WebhookRow,
  range: { workspaceId: string; since: Date; until: Date; now: Date },
): Promise<number> {
  const count = await redeliverBetween(tx, {
    ...range,
    webhook,
    limit: redeliveriesMax,
  })
  if (count === undefined) throw errors.tooManyDeliveries()
  return count
}
