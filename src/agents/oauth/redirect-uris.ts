import { errors } from 'oidc-provider'

// Schemes that a browser or the system handles itself, so that no client can receive the redirect (RFC 8252 §7.1 has
// clients use reverse domain names). oidc-provider refuses those that run code.
const foreignSchemes = new Set([
  'ftp:',
  'ftps:',
  'ws:',
  'wss:',
  'mailto:',
  'tel:',
  'sms:',
  'urn:',
  'intent:',
  'view-source:',
  'about:',
  'blob:',
  'file:',
  'filesystem:',
])

/** Refuses a redirect URI that cannot lead to one client alone. oidc-provider checks the rest. */
export function assertRedirectUri(uri: unknown): void {
  const url = typeof uri === 'string' ? URL.parse(uri) : null
  if (!url) return
  const reason = foreignSchemes.has(url.protocol)
    ? `must not use the ${url.protocol.slice(0, -1)} scheme`
    : url.username !== '' || url.password !== ''
      ? 'must not contain user information'
      : url.hostname.includes('*')
        ? 'must not contain wildcards'
        : url.host === '' && !url.pathname.startsWith('/')
          ? 'must have a slash after the scheme'
          : undefined
  if (reason !== undefined) throw new errors.InvalidClientMetadata(`redirect_uris ${reason}`)
}
