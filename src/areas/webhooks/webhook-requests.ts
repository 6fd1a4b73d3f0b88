import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import type { WebhookRequest } from '../../domain/webhooks.ts'
import { signWebhook } from './webhook-signatures.ts'

/** What a webhook gets: the body of its requests. `cursor`: behind the event in the feed of changes; null for tests and samples. */
export interface WebhookPayload {
  type: string
  /** The time of the event. */
  timestamp: string
  data: object
  cursor: string | null
}

/** The secrets of a webhook, encrypted. */
export interface SealedSecrets {
  sealedSecret: Buffer
  previousSealedSecret: Buffer | null
  previousSecretUntil: Date | null
}

/**
 * Makes the signed request of a payload. During a rotation it has a signature by each secret. Undefined if the secret was
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
    secrets: SealedSecrets
    now: Date
  },
): WebhookRequest | undefined {
  const { id, now, payload, secrets, url } = input
  const secret = secretBox.open(secrets.sealedSecret)
  if (secret === undefined) return undefined
  const { previousSealedSecret, previousSecretUntil } = secrets
  const isRotating =
    previousSealedSecret !== null && previousSecretUntil !== null && previousSecretUntil > now
  const previous = isRotating ? secretBox.open(previousSealedSecret) : undefined
  const body = JSON.stringify(payload)
  const signatures = signWebhook(
    { id, at: now, body },
    previous === undefined ? [secret] : [secret, previous],
  )
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
