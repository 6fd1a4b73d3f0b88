import * as oauth from 'oauth4webapi'
import { createAssertionReader } from './agent-assertions.ts'
import { canonicalizeEmail, parseEmail } from '../../kernel/email.ts'
import type { EmailFault, IdentityProvider } from './identity.port.ts'

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
      const more = await findMissing(server, tokens.access_token, claims)
      const email = claims.email ?? more.email
      const name = claims.name ?? more.name
      return {
        issuer: server.issuer,
        subject: claims.sub,
        email: typeof email === 'string' ? email : undefined,
        emailFault: findEmailFault(claims, more, domains),
        name: typeof name === 'string' ? name : undefined,
      }
    },
  }

  /**
   * The claims of the UserInfo endpoint, if the ID token lacks one that is used: some providers put them only there
   * (OpenID Connect Core §5.4). Without a name a person can sign in, so then a failure counts for nothing.
   */
  async function findMissing(
    server: oauth.AuthorizationServer,
    accessToken: string,
    claims: oauth.IDToken,
  ): Promise<Claims> {
    const isComplete = !isMissing(claims.email) && !isMissing(claims.email_verified)
    if (server.userinfo_endpoint === undefined || (isComplete && !isMissing(claims.name))) return {}
    try {
      const response = await oauth.userInfoRequest(server, client, accessToken, requestOptions())
      return await oauth.processUserInfoResponse(server, client, claims.sub, response)
    } catch (error) {
      if (isComplete) return {}
      throw error
    }
  }
}

type Claims = Readonly<Record<string, unknown>>

const isMissing = (claim: unknown) => claim === undefined || claim === null

/**
 * Why an address is not verified, by the claims of the ID token and those of the UserInfo endpoint. `email_verified` is
 * about the address beside it: that of UserInfo counts if the ID token lacks it, and for the same address only.
 */
function findEmailFault(
  claims: Claims,
  more: Claims,
  domains: readonly string[] | undefined,
): EmailFault | undefined {
  const email = canonicalOf(claims.email ?? more.email)
  if (email === undefined) return { claim: 'email', reason: 'it is missing, or no email address' }
  const isFound = isMissing(claims.email) || isMissing(claims.email_verified)
  if (isFound && canonicalOf(more.email) !== email)
    return { claim: 'email', reason: 'that of UserInfo is missing, or another than that of the ID token' }
  const isVerified = isFound ? more.email_verified : claims.email_verified
  if (isMissing(isVerified)) return { claim: 'email_verified', reason: 'it is missing' }
  // What the ID token denies stays denied.
  if (!isTrue(isVerified) || !isTrue(claims.email_verified ?? true))
    return { claim: 'email_verified', reason: 'it is not true' }
  return mayVouchFor(email, domains)
    ? undefined
    : { claim: 'email', reason: 'its domain is none of the domains of the provider' }
}

/** The form in which addresses are compared. Undefined for what is no address. */
function canonicalOf(email: unknown): string | undefined {
  const parsed = typeof email === 'string' ? parseEmail(email) : undefined
  return parsed && canonicalizeEmail(parsed)
}

/** Amazon Cognito sends text. Nothing else that looks like true counts. */
function isTrue(claim: unknown): boolean {
  return claim === true || (typeof claim === 'string' && claim.toLowerCase() === 'true')
}

function mayVouchFor(email: string, domains: readonly string[] | undefined): boolean {
  return domains === undefined || domains.includes(email.slice(email.lastIndexOf('@') + 1))
}
