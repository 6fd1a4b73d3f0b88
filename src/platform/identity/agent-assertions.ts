import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose'
import type { AuthorizationServer } from 'oauth4webapi'
import {
  AssertionRefused,
  ProviderUnreachable,
  type AgentAssertion,
  type IdentityProvider,
} from './identity.port.ts'

/** What assertions may be signed with. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'EdDSA',
  'Ed25519',
]
/** For how long an assertion may be valid: its id is stored for so long. */
export const assertionSecondsMax = 30 * 60
/** How far the clock of a provider may be ahead. */
const aheadSecondsMax = 60
const idLengthMax = 512

/**
 * Reads assertions that are signed by the keys of a provider (draft-ietf-oauth-identity-assertion-authz-grant, RFC 7523 §3).
 * jose keeps the keys, and fetches them again for one that it does not know.
 */
export function createAssertionReader(
  discover: () => Promise<AuthorizationServer>,
  { isLoopback, requestLimitMs }: { isLoopback: boolean; requestLimitMs: number },
): IdentityProvider['readAssertion'] {
  let keys: { url: string; find: JWTVerifyGetKey } | undefined

  async function load(): Promise<{ issuer: string; find: JWTVerifyGetKey }> {
    try {
      const { issuer, jwks_uri: url } = await discover()
      if (url === undefined) throw new Error(`${issuer} has no jwks_uri`)
      if (!url.startsWith('https://') && !isLoopback)
        throw new Error(`the jwks_uri of ${issuer} is not https`)
      if (keys?.url !== url)
        keys = { url, find: createRemoteJWKSet(new URL(url), { timeoutDuration: requestLimitMs }) }
      return { issuer, find: keys.find }
    } catch (cause) {
      throw new ProviderUnreachable('the document of the identity provider could not be read', { cause })
    }
  }

  return async (assertion, { audience, now }) => {
    const { issuer, find } = await load()
    const { payload } = await verify(assertion, find, { issuer, now })
    return toAssertion(payload, { issuer, audience, now })
  }
}

async function verify(
  assertion: string,
  find: JWTVerifyGetKey,
  { issuer, now }: { issuer: string; now: Date },
): Promise<{ payload: JWTPayload }> {
  try {
    return await jwtVerify(assertion, find, {
      algorithms,
      issuer,
      typ: 'oauth-id-jag+jwt',
      requiredClaims: ['aud', 'sub', 'client_id', 'resource', 'jti', 'exp', 'iat'],
      currentDate: now,
    })
  } catch (error) {
    if (error instanceof errors.JWTExpired) throw new AssertionRefused('The assertion has expired.')
    if (error instanceof errors.JWTClaimValidationFailed)
      throw new AssertionRefused(`The ${error.claim} of the assertion is missing or wrong.`)
    if (isOfAssertion(error)) throw new AssertionRefused('The assertion has no valid signature.')
    throw new ProviderUnreachable('the keys of the identity provider could not be read', { cause: error })
  }
}

/** Whether an error is about the assertion, and not about the keys of the provider. */
function isOfAssertion(error: unknown): boolean {
  return (
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported
  )
}

/** Checks what jose does not. */
function toAssertion(
  payload: JWTPayload,
  { issuer, audience, now }: { issuer: string; audience: string; now: Date },
): AgentAssertion {
  const refuse = (what: string) => new AssertionRefused(`The ${what} of the assertion is missing or wrong.`)
  const { sub, aud, jti, exp = 0, iat = 0, client_id: clientId, resource, scope } = payload
  const [named, ...others] = [aud].flat()
  // Clients that read the issuer as a URL name it with a slash at the end.
  if (others.length > 0 || named?.replace(/\/$/, '') !== audience) throw refuse('aud')
  if (typeof sub !== 'string' || sub === '') throw refuse('sub')
  if (typeof clientId !== 'string') throw refuse('client_id')
  if (typeof jti !== 'string' || jti === '' || jti.length > idLengthMax) throw refuse('jti')
  const seconds = now.getTime() / 1000
  if (iat > seconds + aheadSecondsMax) throw refuse('iat')
  if (exp - Math.min(iat, seconds) > assertionSecondsMax)
    throw new AssertionRefused(`The assertion is valid for more than ${assertionSecondsMax / 60} minutes.`)
  const resources: unknown[] = [resource].flat()
  if (!isTexts(resources)) throw refuse('resource')
  if (scope !== undefined && typeof scope !== 'string') throw refuse('scope')
  // A person is known by issuer and subject alone, which of these are of a tenant only; no rich requests, no proof of a key.
  for (const name of ['tenant', 'authorization_details', 'cnf'])
    if (payload[name] !== undefined) throw new AssertionRefused(`Assertions with ${name} are not supported.`)
  return { issuer, subject: sub, clientId, resources, scope, id: jti, expiresAt: new Date(exp * 1000) }
}

function isTexts(values: unknown[]): values is string[] {
  return values.length > 0 && values.every((value) => typeof value === 'string')
}
