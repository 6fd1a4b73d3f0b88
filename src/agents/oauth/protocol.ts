import { clientIdLengthMax, grantDays, validationKitScope } from '../../domain/agent.ts'

/** The scope that every grant has, and the only one that clients are told to ask for at first. */
export const agentScope = validationKitScope
// Accepted because some clients always ask for it. It has no effect: every client gets a refresh token.
export const offlineScope = 'offline_access'

/** The grant types of clients that register themselves, or publish a document: they act for people. */
export const grantTypes = ['authorization_code', 'refresh_token'] as const
/** That of the clients of service accounts (RFC 6749 §4.4), which owners and admins create. */
export const serviceGrantType = 'client_credentials'
/** That of clients with an assertion of an identity provider (RFC 7523 §2.1), and its profile (ID-JAG). */
export const assertionGrantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const assertionGrantProfile = 'urn:ietf:params:oauth:grant-profile:id-jag'
export const clientAuthMethods = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const
/** The algorithms of the JWTs by which clients authenticate (RFC 7518, RFC 8037, RFC 9864). */
export const assertionAlgorithms = ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'] as const
/** Until when such a JWT may be valid: its id is stored for so long. */
export const assertionLifetimeSecondsMax = 10 * 60

/** The longest lifetime of a grant, unless it is prolonged. */
export const grantLifetimeSeconds = Math.max(...grantDays) * 24 * 60 * 60
/** How long a person may take to sign in and decide. */
export const consentLifetimeSeconds = 30 * 60

export const codeLifetimeSeconds = 60

/** The `Retry-After` of OAuth errors while the database cannot be reached. */
export const databaseRetryAfterSeconds = 5
/** That of errors while the document or the keys of a client cannot be fetched. */
export const documentRetryAfterSeconds = 60

/**
 * The size of a metadata document, of what has an effect in it: it is stored with each authorization request. As the draft
 * recommends.
 */
export const documentBytesMax = 5 * 1024

/**
 * The parameters of an authorization request that have an effect, with their maximum lengths: anybody can send a
 * request, and it is stored until consent. Known clients keep `state` below 2 KiB.
 */
export const parameterLengthMax: Readonly<Record<string, number>> = {
  client_id: clientIdLengthMax,
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

/** What a request is refused with that the database could not store. */
export const unstorable = 'NUL and lone surrogates are not accepted.'

export const paths = {
  authorization: '/agent/oauth/authorize',
  consent: '/agent/oauth/consent',
  token: '/agent/oauth/token',
  registration: '/agent/oauth/register',
  revocation: '/agent/oauth/revoke',
  jwks: '/agent/oauth/jwks',
  mcp: '/agent/mcp',
} as const

/** The host of the metadata document that a client has as its id; null for a client that is registered. */
export function documentHostOf(clientId: string): string | null {
  return /^https:/i.test(clientId) ? new URL(clientId).host : null
}

/** Accepts a resource with a trailing slash or in upper case, as some clients send it (RFC 8707 compares literally). */
export function canonicalResource(indicator: string | string[], resource: string): string | string[] {
  if (typeof indicator !== 'string') return indicator
  return indicator.replace(/\/$/, '').toLowerCase() === resource.toLowerCase() ? resource : indicator
}
