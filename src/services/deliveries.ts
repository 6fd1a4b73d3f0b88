import type { Logger } from 'pino'
import type { SecretBox } from '../platform/secrets/app-secret.port.ts'
import {
  claimDeliveries,
  discardDelivery,
  recordAndDisable,
  recordResults,
  releaseDelivery,
} from '../areas/webhooks/deliverer.repository.ts'
import { makeChatRequest } from '../areas/webhooks/chat-messages.ts'
import { createDeliverer, type Deliverer } from '../areas/webhooks/deliverer.ts'
import { makeWebhookRequest } from '../areas/webhooks/webhook-requests.ts'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Meter } from '../kernel/meter.ts'
import { encodeFeedCursor } from '../domain/event-cursors.ts'
import type { SendWebhook } from '../domain/webhooks.ts'
import type { JobQueue } from '../platform/jobs/jobs.port.ts'

export interface DeliveriesOptions {
  send: SendWebhook
  random: () => number
  pollEveryMs: number
  stopWithinMs: number
}

/** Makes what sends the deliveries to webhooks. It sends none before it is started. */
export function createDeliveries(
  options: {
    db: Database
    clock: Clock
    meter: Meter
    log: Logger
    jobs: JobQueue
    secretBox: SecretBox
    userAgent: string
    /** What the URLs of seeds begin with. */
    seedUrlPrefix: string
    send: SendWebhook
  } & Partial<DeliveriesOptions>,
): Deliverer {
  const { db, jobs, log, secretBox, userAgent, seedUrlPrefix, ...rest } = options
  return createDeliverer({
    ...rest,
    claim: (claimed) => claimDeliveries(db, { ...claimed, seedUrlPrefix }),
    makeRequest: (deliveries, now) => {
      const [delivery] = deliveries
      const { createdAt, event, eventId, format, position, type, url, webhookId, workspaceId } = delivery
      if (format !== null) {
        const lines = deliveries.map(({ event: { summary, url: to } }) => ({ text: summary, url: to }))
        return makeChatRequest(format, { url, userAgent, lines })
      }
      const payload = {
        type,
        timestamp: createdAt.toISOString(),
        data: event,
        cursor: encodeFeedCursor(workspaceId, { position, id: eventId }),
      }
      return makeWebhookRequest(
        { secretBox, userAgent },
        { url, webhookId, workspaceId, id: eventId, payload, secrets: delivery, now },
      )
    },
    record: (results, now) => recordResults(db, results, now),
    recordAndDisable: (results, when) => recordAndDisable({ db, jobs }, results, when),
    release: (delivery) => releaseDelivery(db, delivery),
    discard: (delivery) => discardDelivery(db, delivery),
    onError: (error) =>
      log.warn({ err: error }, 'deliveries to webhooks could not be claimed or recorded; will retry'),
  })
}
