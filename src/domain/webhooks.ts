/** The most webhooks of a workspace. */
export const webhooksMax = 20

/** The maximum length of the URL of a webhook, and of its description. */
export const webhookUrlLengthMax = 2_000
export const webhookDescriptionLengthMax = 200

/** The most former secrets of a webhook that sign at a time. */
export const formerSecretsMax = 3

/** The chats whose messages a webhook can send. Without one, it sends events (Standard Webhooks). */
export const webhookFormats = ['slack', 'teams', 'discord', 'mattermost'] as const
export type WebhookFormat = (typeof webhookFormats)[number]

/** What a webhook can be limited to: the events of some seeds, of the seeds of some teams, or of those with some labels. */
export const webhookScopes = ['seedIds', 'teamIds', 'labelIds'] as const
export type WebhookScope = (typeof webhookScopes)[number]

/** The most ids of each of them. */
export const webhookScopeMax = 50

/** Why a webhook is disabled: by a person, because the receiver answered 410, or because nothing could be delivered. */
export const webhookDisabledReasons = ['manual', 'gone', 'failing'] as const
export type WebhookDisabledReason = (typeof webhookDisabledReasons)[number]

/** Why a webhook is paused: its receiver sent `Retry-After`, or answered 429, 502 or 504. */
export const webhookPauseReasons = ['retry_after', 'overloaded'] as const
export type WebhookPauseReason = (typeof webhookPauseReasons)[number]

export const webhookStatuses = ['active', 'disabled'] as const
export type WebhookStatus = (typeof webhookStatuses)[number]

export const statusOfWebhook = ({
  disabledReason,
}: {
  disabledReason: WebhookDisabledReason | null
}): WebhookStatus => (disabledReason === null ? 'active' : 'disabled')

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/**
 * Why an attempt failed. They tell nothing of the network of the service: an address that is not allowed, an unknown name
 * and a closed port are all `refused`.
 */
export const deliveryErrors = ['refused', 'timeout', 'tls', 'status', 'secret_unreadable'] as const
export type DeliveryError = (typeof deliveryErrors)[number]

/** A request to the receiver of a webhook. The body was signed as it is. */
export interface WebhookRequest {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** The answer to it, or why there is none. `retryAfter` is the header (RFC 9110 section 10.2.3). */
export type WebhookAnswer =
  | { status: number; retryAfter: string | undefined }
  | { error: Extract<DeliveryError, 'refused' | 'timeout' | 'tls'> }

/** Sends a request. Fails only when `signal` aborts it. */
export type SendWebhook = (request: WebhookRequest, signal: AbortSignal) => Promise<WebhookAnswer>

/** Whether the host name of a URL is this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

/** What events and mails show of the URL of a webhook: paths are often secret. */
export function hostOf(url: string): string {
  return new URL(url).host
}
