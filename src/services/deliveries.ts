import type { Logger } from 'pino'
import type { SecretBox } from '../platform/secrets/app-secret.port.ts'
import {
  claimDeliveries,
  recordAndDisable,
  recordOutcome,
  releaseDelivery,
} from '../areas/webhooks/deliverer.repository.ts'
import { createDeliverer, type Deliverer } from '../areas/webhooks/deliverer.ts'
import { makeWebhookRequest } from '../areas/webhooks/webhook-requests.ts'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
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
    makeRequest: (delivery, now) => {
      const { createdAt, event, eventId, position, type, url, webhookId, workspaceId } = delivery
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
    record: (delivery, outcome, now) => recordOutcome(db, delivery, outcome, now),
    recordAndDisable: (delivery, outcome, when) => recordAndDisable({ db, jobs }, delivery, outcome, when),
    release: (delivery) => releaseDelivery(db, delivery),
    onError: (error) =>
      log.warn({ err: error }, 'deliveries to webhooks could not be claimed or recorded; will retry'),
  })
}
