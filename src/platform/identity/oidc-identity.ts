import { domainToASCII } from 'node:url'
import * as oauth from 'oauth4webapi'
import { createAssertionReader } from './agent-assertions.ts'
import type { IdentityProvider } from './identity.port.ts'

/** The settings of an OpenID Connect provider. */
export interface OidcProviderSettings {
  id: string
  name: string
  issuer: string
  clientId: string
  clientSecret: string
  /** The domains, in ASCII, for which the provider may verify addresses. Undefined: all. */
  domains?: string[]
  /** Whether it is trusted to let agents in for people. */
  agentAssertions?: boolean
}

const requestLimitMs = 10_000

/**
 * Signs in with OpenID Connect: the code flow with PKCE (RFC 7636), state, nonce and, if the provider sends it, `iss`
 * (RFC 9207). The endpoints come from OpenID Connect Discovery, on first use.
 */
export function createOidcProvider(settings: OidcProviderSettings, webUrl: string): IdentityProvider {
  const { id, name, clientId, clientSecret, domains } = settings
  const issuer = new URL(settings.issuer)
  const redirectUri = `${webUrl}/sign-in/with/${id}/callback`
  const client: oauth.Client = { client_id: clientId }
  const requestOptions = () => ({
    signal: AbortSignal.timeout(requestLimitMs),
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated as a warning; set for loopback issuers only
    [oauth.allowInsecureRequests]: issuer.protocol === 'http:',
  })
  let discovered: Promise<oauth.AuthorizationServer> | undefined

  async function fetchDocument(): Promise<oauth.AuthorizationServer> {
    const response = await oauth.discoveryRequest(issuer, requestOptions())
    return oauth.processDiscoveryResponse(issuer, response)
  }

  async function discover(): Promise<oauth.AuthorizationServer> {
    discovered ??= fetchDocument()
    try {
      return await discovered
    } catch (error) {
      // The next sign-in tries again.
      discovered = undefined
      throw error
    }
  }

  const isLoopback = issuer.protocol === 'http:'
  const readAssertion = createAssertionReader(discover, { isLoopback, requestLimitMs })

  function authenticate(server: oauth.AuthorizationServer): oauth.ClientAuth {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return methods.includes('client_secret_basic')
      ? oauth.ClientSecretBasic(clientSecret)
      : oauth.ClientSecretPost(clientSecret)
  }

  return {
    id,
    name,
    issuer: settings.issuer,
    isTrustedForAgents: settings.agentAssertions === true,
    readAssertion,

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

    async check() {
      const server = await fetchDocument()
      for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const)
        if (server[name] === undefined) throw new Error(`its document has no ${name}`)
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
      const more = await findMore(server, tokens.access_token, claims.sub)
      // Both claims must come from the same source: `email_verified` applies to the `email` beside it.
      const { email, email_verified: isVerified } = typeof claims.email === 'string' ? claims : more
      const name = claims.name ?? more.name
      return {
        issuer: server.issuer,
        subject: claims.sub,
        email: typeof email === 'string' ? email : undefined,
        isEmailVerified: isVerified === true && typeof email === 'string' && mayVouchFor(email, domains),
        name: typeof name === 'string' ? name : undefined,
      }
    },
  }

  /**
   * The claims of the UserInfo endpoint, which some providers do not put into the ID token (OpenID Connect Core §5.4).
   */
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

function mayVouchFor(email: string, domains: readonly string[] | undefined): boolean {
  const domain = domainToASCII(email.slice(email.lastIndexOf('@') + 1).trim())
  return domains === undefined || domains.includes(domain)
}
