import type { WorkspaceEvent } from './events.ts'

/** What a webhook receives. */
export type WebhookMessage =
  | {
      type: WorkspaceEvent['type']
      /** When the event happened (RFC 3339). */
      timestamp: string
      data: WorkspaceEvent
      /** The place of the event in the feed of changes. */
      cursor: string
    }
  | { type: 'webhook.test'; timestamp: string; data: Record<string, unknown>; cursor: null }

/** Why a request is not accepted. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

export interface WebhookRequest {
  /** Names in any case; of several values the first one. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body as it was received, before any parsing. */
  body: string | Uint8Array
}

/** How far the time of a message may be from now, in seconds. */
const toleranceSeconds = 5 * 60

/**
 * Checks that a request is from the service (Standard Webhooks 1.0), and returns its message. `secrets` are the secrets
 * of the webhook, `whsec_…`; while one is replaced, both. Throws a `WebhookError` otherwise. The header `webhook-id` is
 * the same in each attempt to deliver a message: use it to process a message once. Throws a `TypeError` if a secret is
 * undefined or empty, so that a missing setting is not taken for a forged request.
 */
export async function verifyWebhook(
  { headers, body }: WebhookRequest,
  secrets: string | undefined | readonly (string | undefined)[],
): Promise<WebhookMessage> {
  const given = [secrets].flat().map((secret) => {
    if (!secret) throw new TypeError('a secret is missing: is the environment variable with the secret set?')
    return secret
  })
  if (given.length === 0) throw new TypeError('a secret is missing: the list is empty')
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers)
  const read = (name: string): string => {
    const [value] = entries.flatMap(([key, values]) =>
      key.toLowerCase() === name ? [values ?? []].flat() : [],
    )
    if (typeof value !== 'string') throw new WebhookError(`the header ${name} is missing`)
    return value
  }
  const id = read('webhook-id')
  const timestamp = read('webhook-timestamp')
  const signatures = read('webhook-signature')
    .split(' ')
    .flatMap((signature) => (signature.startsWith('v1,') ? [signature.slice(3)] : []))
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= toleranceSeconds))
    throw new WebhookError('the time of the message is not now')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`)
  for (const secret of given) {
    const bytes = decodeBase64(secret.replace(/^whsec_/, ''))
    if (bytes.length === 0) throw new WebhookError('the secret is not one of a webhook')
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ])
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, decodeBase64(signature), signed))
        return JSON.parse(text) as WebhookMessage
  }
  throw new WebhookError('no signature is valid')
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
