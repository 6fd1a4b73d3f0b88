import { createHmac, randomBytes } from 'node:crypto'

// Standard Webhooks 1.0, "Signature scheme": symmetric secrets have 24 to 64 bytes.
const prefix = 'whsec_'
const secretBytes = 32

/** Creates the secret of a webhook, as its receiver stores it. */
export function createWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

/** What a request to a webhook is signed with. */
export interface SignedContent {
  /** The same in every attempt. */
  id: string
  /** The time of the attempt. */
  at: Date
  body: string
}

/** The headers of a request to a webhook (Standard Webhooks 1.0, "Webhook headers"), with a signature by each secret. */
export function signWebhook(
  { id, at, body }: SignedContent,
  secrets: readonly string[],
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
