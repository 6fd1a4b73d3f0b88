/** The secrets of a workspace that somebody was shown and that still work, by the names that things had. */
export interface KnownSecrets {
  /** API keys of service accounts. */
  keys: readonly KnownKey[]
  /** OAuth clients of service accounts. Absent: none. */
  clients?: readonly KnownClient[]
  /** Webhooks whose secret they know. Absent: none. */
  webhooks?: readonly KnownWebhook[]
}

interface OfServiceAccount {
  serviceAccountId: string
  serviceAccountName: string
}

interface KnownKey extends OfServiceAccount {
  apiKeyId: string
  keyName: string
  lastFour: string
}

interface KnownClient extends OfServiceAccount {
  grantId: string
  clientName: string
}

interface KnownWebhook {
  webhookId: string
  host: string
}

/** Each of some secrets in words. */
export function nameSecrets({ keys, clients = [], webhooks = [] }: KnownSecrets): string[] {
  return [
    ...keys.map(
      ({ keyName, lastFour, serviceAccountName: of }) => `the API key ${keyName} (…${lastFour}) of ${of}`,
    ),
    ...clients.map(({ clientName, serviceAccountName: of }) => `the OAuth client ${clientName} of ${of}`),
    ...webhooks.map(({ host }) => `the secret of the webhook to ${host}`),
  ]
}

/** Where they are replaced, below the path of the workspace. */
export function locateSecrets({ keys, clients = [], webhooks = [] }: KnownSecrets): string {
  const paths = [
    ...[...keys, ...clients].map(({ serviceAccountId: id }) => ['/settings/service-accounts', id] as const),
    ...webhooks.map(({ webhookId: id }) => ['/settings/webhooks', id] as const),
  ]
  const [[list, id] = ['/settings', ''] as const, ...others] = paths
  if (others.some(([path]) => path !== list)) return '/settings'
  return others.some((other) => other[1] !== id) ? list : `${list}/${id}`
}
