/** What an agent may be allowed. */
export const agentScope = 'validation-kit:read'
// Clients ask for it where they know it from elsewhere. Every client gets a refresh token here.
export const offlineScope = 'offline_access'

export const grantTypes = ['authorization_code', 'refresh_token'] as const
export const clientAuthMethods = ['none', 'client_secret_basic', 'client_secret_post'] as const

/** How long a grant can be used before the person is asked again. */
export const grantLifetimeSeconds = 180 * 24 * 60 * 60
/** How long a person has for signing in and deciding. */
export const consentLifetimeSeconds = 30 * 60

/** When a client may try again while the database cannot be reached. */
export const databaseRetryAfterSeconds = 5

/**
 * The parameters of an authorization request that have an effect, each with its greatest length. A request waits for
 * consent in the database, and anybody can send one. The clients that are known keep `state` below 2 KiB.
 */
export const parameterLengthMax: Readonly<Record<string, number>> = {
  client_id: 1024,
  code_challenge: 128,
  code_challenge_method: 16,
  prompt: 64,
  redirect_uri: 1024,
  request: 1024,
  request_uri: 1024,
  resource: 1024,
  response_mode: 32,
  response_type: 64,
  scope: 2048,
  state: 2048,
}

/** The paths of the OAuth server: the website's authorize page, and the rest. */
export const paths = {
  authorization: '/agent/oauth/authorize',
  consent: '/agent/oauth/consent',
  token: '/agent/oauth/token',
  registration: '/agent/oauth/register',
  revocation: '/agent/oauth/revoke',
  jwks: '/agent/oauth/jwks',
  mcp: '/agent/mcp',
} as const

/** RFC 8707 compares literally, and clients spell: a trailing slash and an upper-case host are forgiven. */
export function canonicalResource(indicator: string | string[], resource: string): string | string[] {
  if (typeof indicator !== 'string') return indicator
  return indicator.replace(/\/$/, '').toLowerCase() === resource.toLowerCase() ? resource : indicator
}
