import * as oauth from 'oauth4webapi'
import { paths } from '../protocol.ts'
import type { Jwk } from './signing-keys.ts'

/** The claims of a valid access token. Its grant may have been revoked. */
export interface VerifiedToken {
  grantId: string
  clientId: string
  scopes: string[]
  /** In seconds since 1970. */
  expiresAt: number
}

/** Verifies an access token (RFC 9068) by public keys; undefined if it is invalid or has expired. */
export type VerifyToken = (accessToken: string, keys: Jwk[]) => Promise<VerifiedToken | undefined>

/** The most tokens whose verification is kept. */
export const keptTokensMax = 1000

/**
 * Makes a verifier. A valid token is kept until other keys are given, since verifying a signature takes a tenth of a
 * request. The expiry is checked at every call.
 */
export function createTokenVerifier(baseUrl: string): VerifyToken {
  const verify = createSignatureVerifier(baseUrl)
  let kept: { keys: Jwk[]; tokens: Map<string, VerifiedToken> } | undefined
  return async (accessToken, keys) => {
    if (kept?.keys !== keys) kept = { keys, tokens: new Map() }
    const { tokens } = kept
    const known = tokens.get(accessToken)
    if (known) return known.expiresAt > Date.now() / 1000 ? known : undefined
    const token = await verify(accessToken, keys)
    if (!token) return undefined
    const [oldest] = tokens.keys()
    if (tokens.size >= keptTokensMax && oldest !== undefined) tokens.delete(oldest)
    tokens.set(accessToken, token)
    return token
  }
}

function createSignatureVerifier(baseUrl: string): VerifyToken {
  const resource = `${baseUrl}${paths.mcp}`
  return async (accessToken, keys) => {
    // A new object each time: of one that it knows, oauth4webapi keeps the keys for five minutes.
    const server: oauth.AuthorizationServer = { issuer: baseUrl, jwks_uri: `${baseUrl}${paths.jwks}` }
    const headers = { authorization: `Bearer ${accessToken}` }
    try {
      const claims = await oauth.validateJwtAccessToken(
        server,
        new Request(resource, { headers }),
        resource,
        {
          signingAlgorithms: ['ES256'],
          // The keys are local, so nothing is fetched over http.
          // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated only to stand out; see above
          [oauth.allowInsecureRequests]: true,
          // Our own clock is the one that issued the token.
          [oauth.clockTolerance]: 0,
          [oauth.customFetch]: async () => Response.json({ keys }),
          [oauth.jwksCache]: { jwks: { keys }, uat: Math.floor(Date.now() / 1000) },
        },
      )
      return {
        grantId: typeof claims.gid === 'string' ? claims.gid : '',
        clientId: claims.client_id,
        scopes: (claims.scope ?? '').split(' '),
        expiresAt: claims.exp,
      }
    } catch (error) {
      if (
        error instanceof oauth.OperationProcessingError ||
        error instanceof oauth.UnsupportedOperationError
      ) {
        return undefined
      }
      if (error instanceof oauth.WWWAuthenticateChallengeError || error instanceof TypeError) return undefined
      throw error
    }
  }
}
