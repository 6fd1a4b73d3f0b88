import { errors } from '../../kernel/errors.ts'
import { isLoopback, webhookUrlLengthMax } from '../../domain/webhooks.ts'

/**
 * The URL of a webhook as it is stored. Throws `webhook_url_invalid` for other URLs than https without credentials; with
 * `isDevelopment`, http is allowed on this machine.
 */
export function requireWebhookUrl(text: string, { isDevelopment }: { isDevelopment: boolean }): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isAllowed =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isDevelopment && isLoopback(url.hostname))
  if (!url || !isAllowed || url.username !== '' || url.password !== '')
    throw errors.webhookUrlInvalid({ field: 'url' })
  // It is not sent.
  url.hash = ''
  if (url.href.length > webhookUrlLengthMax) throw errors.webhookUrlInvalid({ field: 'url' })
  return url.href
}
