import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import type { WebhookRequest } from '../../domain/webhooks.ts'
import { signWebhook } from './webhook-signatures.ts'
import type { WebhookSecrets } from './webhooks.repository.ts'

/** What a webhook gets: the body of its requests. `cursor`: behind the event in the feed of changes; null for tests and samples. */
export interface WebhookPayload {
  type: string
  /** The time of the event. */
  timestamp: string
  data: object
  cursor: string | null
}

/**
 * Makes the signed request of a payload, with a signature by each secret, the newest first. Undefined if the secret was
 * encrypted under another APP_SECRET.
 */
export function makeWebhookRequest(
  { secretBox, userAgent }: { secretBox: SecretBox; userAgent: string },
  input: {
    url: string
    webhookId: string
    workspaceId: string
    /** The id of the message, the same in every attempt. */
    id: string
    payload: WebhookPayload
    secrets: WebhookSecrets
    now: Date
  },
): WebhookRequest | undefined {
  const { id, now, payload, secrets, url } = input
  const secret = secretBox.open(secrets.sealedSecret)
  if (secret === undefined) return undefined
  const { previousSealedSecret, previousSecretUntil } = secrets
  const isRotating =
    previousSealedSecret !== null && previousSecretUntil !== null && previousSecretUntil > now
  // The previous one is among the former ones, unless the version before has rotated.
  const sealed = [...(isRotating ? [previousSealedSecret] : []), ...secrets.formerSealedSecrets]
  const former = sealed.map((each) => secretBox.open(each)).filter((each) => each !== undefined)
  const body = JSON.stringify(payload)
  const signatures = signWebhook({ id, at: now, body }, [...new Set([secret, ...former])])
  return {
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': userAgent,
      'webhook-endpoint-id': input.webhookId,
      'webhook-workspace-id': input.workspaceId,
      ...signatures,
    },
    body,
  }
}
