import * as oauth from 'oauth4webapi'
import type { IdentityProvider } from './identity.port.ts'

/** A provider of OpenID Connect, as the settings name it. */
export interface OidcProviderSettings {
  id: string
  name: string
  issuer: string
  clientId: string
  clientSecret: string
}

const requestLimitMs = 10_000

/**
 * Signs in with OpenID Connect: the code flow with PKCE (RFC 7636), state, nonce and, where the provider sends it, `iss`
 * (RFC 9207). What the provider is, it says itself (OpenID Connect Discovery); it is asked once, when first needed.
 */
export function createOidcProvider(settings: OidcProviderSettings, webUrl: string): IdentityProvider {
  const { id, name, clientId, clientSecret } = settings
  const issuer = new URL(settings.issuer)
  const redirectUri = `${webUrl}/sign-in/with/${id}/callback`
  const client: oauth.Client = { client_id: clientId }
  const requestOptions = () => ({
    signal: AbortSignal.timeout(requestLimitMs),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out; the settings take plain http for loopback addresses only
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
  })
  let discovered: Promise<oauth.AuthorizationServer> | undefined

  async function discover(): Promise<oauth.AuthorizationServer> {
    discovered ??= oauth
      .discoveryRequest(issuer, requestOptions())
      .then((response) => oauth.processDiscoveryResponse(issuer, response))
    try {
      return await discovered
    } catch (error) {
      // The next one may have more luck.
      discovered = undefined
      throw error
    }
  }

  function authenticate(server: oauth.AuthorizationServer): oauth.ClientAuth {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return methods.includes('client_secret_basic')
      ? oauth.ClientSecretBasic(clientSecret)
      : oauth.ClientSecretPost(clientSecret)
  }

  return {
    id,
    name,

    async begin() {
      const { authorization_endpoint: endpoint } = await discover()
      if (endpoint === undefined) throw new Error(`${issuer.href} has no authorization endpoint`)
      const flow = {
        state: oauth.generateRandomState(),
        nonce: oauth.generateRandomNonce(),
        codeVerifier: oauth.generateRandomCodeVerifier(),
      }
      const url = new URL(endpoint)
      const parameters = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email profile',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(flow.codeVerifier),
        code_challenge_method: 'S256',
      }
      for (const [key, value] of Object.entries(parameters)) url.searchParams.set(key, value)
      return { url: url.href, flow }
    },

    async finish(url, { state, nonce, codeVerifier }) {
      const server = await discover()
      const parameters = oauth.validateAuthResponse(server, client, url, state)
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authenticate(server),
        parameters,
        redirectUri,
        codeVerifier,
        requestOptions(),
      )
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: nonce,
        requireIdToken: true,
      })
      await oauth.validateApplicationLevelSignature(server, response, requestOptions())
      const claims = oauth.getValidatedIdTokenClaims(tokens)
      if (!claims) throw new Error(`${issuer.href} has sent no ID token`)
      const person = { ...(await findMore(server, tokens.access_token, claims.sub)), ...claims }
      return {
        issuer: server.issuer,
        subject: claims.sub,
        email: typeof person.email === 'string' ? person.email : undefined,
        isEmailVerified: person.email_verified === true,
        name: typeof person.name === 'string' ? person.name : undefined,
      }
    },
  }

  /** The claims that some providers tell only here (OpenID Connect Core §5.4). */
  async function findMore(
    server: oauth.AuthorizationServer,
    accessToken: string,
    subject: string,
  ): Promise<Record<string, unknown>> {
    if (server.userinfo_endpoint === undefined) return {}
    const response = await oauth.userInfoRequest(server, client, accessToken, requestOptions())
    return oauth.processUserInfoResponse(server, client, subject, response)
  }
}
