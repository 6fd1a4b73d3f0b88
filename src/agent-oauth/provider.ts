import { errors, Provider, type Configuration, type KoaContextWithOIDC } from 'oidc-provider'
import type { Logger } from 'pino'
import type { Database } from '../db/client.ts'
import { isDatabaseUnavailable } from '../db/errors.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors as catalogue } from '../kernel/errors.ts'
import { deriveKey } from '../kernel/sealing.ts'
import { renderErrorPage } from './error-page.ts'
import { createRecordAdapter, type RecordBounds } from './oauth-records.repository.ts'
import {
  agentScope,
  canonicalResource,
  clientAuthMethods,
  consentLifetimeSeconds,
  databaseRetryAfterSeconds,
  grantLifetimeSeconds,
  grantTypes,
  offlineScope,
  parameterLengthMax,
  paths,
} from './protocol.ts'
import type { SigningKeys } from './signing-keys.ts'

const refreshIdleSeconds = 30 * 24 * 60 * 60
const codeLifetimeSeconds = 60

export interface ProviderOptions {
  db: Database
  clock: Clock
  log: Logger
  keys: SigningKeys
  appSecret: string
  /** The issuer. */
  baseUrl: string
  webUrl: string
  accessTokenLifetimeSeconds: number
  recordBounds: RecordBounds
  /** A digest of the address that the current request came from. */
  findOrigin: () => string | undefined
  /** How client metadata documents are fetched, whose URLs are given by strangers. */
  fetch: typeof fetch
}

/**
 * The OAuth authorization server (OAuth 2.1; RFC 6749, 7591, 7636, 8707, 9207). oidc-provider does the protocol; whoever
 * consents is known by the website's session, and what was consented to is kept in agent_grants.
 */
export function createProvider(options: ProviderOptions): Provider {
  const { db, clock, log, keys, appSecret, baseUrl, webUrl, accessTokenLifetimeSeconds } = options
  const { recordBounds: bounds, findOrigin } = options
  const resource = `${baseUrl}${paths.mcp}`
  const configuration: Configuration = {
    adapter: createRecordAdapter({
      db,
      clock,
      bounds,
      findOrigin,
      alreadyUsed: () => new errors.InvalidGrant('already used'),
    }),
    jwks: { keys: [keys.signing] },
    cookies: {
      keys: [deriveKey(appSecret, 'oauth cookies').toString('base64url')],
      names: { session: 'oauth_session', interaction: 'oauth_interaction', resume: 'oauth_resume' },
      short: { httpOnly: true, sameSite: 'lax', signed: true },
      long: { httpOnly: true, sameSite: 'lax', signed: true },
    },
    routes: {
      authorization: paths.authorization,
      token: paths.token,
      registration: paths.registration,
      revocation: paths.revocation,
      jwks: paths.jwks,
    },
    scopes: [agentScope, offlineScope],
    claims: {},
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: [...clientAuthMethods],
    clientDefaults: {
      // Allows loopback ports and schemes of programs; https stays exact.
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: [...grantTypes],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    ttl: {
      AccessToken: accessTokenLifetimeSeconds,
      AuthorizationCode: codeLifetimeSeconds,
      RefreshToken: refreshIdleSeconds,
      Grant: grantLifetimeSeconds,
      Interaction: consentLifetimeSeconds,
      Session: consentLifetimeSeconds,
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    // The grant that the token stands and falls with.
    extraTokenClaims: async (_ctx, token) => ({ gid: 'grantId' in token ? token.grantId : undefined }),
    // Nothing but the consent that was just given counts: nobody is let through by an earlier one.
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId)
    },
    interactions: { url: async (_ctx, interaction) => `${webUrl}${paths.consent}/${interaction.uid}` },
    clientBasedCORS: () => true,
    renderError: (ctx, out) => {
      ctx.type = 'html'
      ctx.body = renderErrorPage(out.error, out.error_description)
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      rpMetadataChoices: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_ctx, indicator) => {
          if (indicator !== resource) throw new errors.InvalidTarget()
          return {
            scope: agentScope,
            audience: resource,
            accessTokenTTL: accessTokenLifetimeSeconds,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }
        },
      },
    },
    fetch: options.fetch,
  }

  const provider = new Provider(baseUrl, configuration)
  // The host and scheme that it sees are those that http gives it from the configuration, never a client's.
  provider.proxy = true
  provider.on('server_error', (ctx, error) => {
    if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'the oauth server failed')
    else sayUnavailable(ctx, log, error)
  })
  provider.use(async (ctx, next) => {
    if (ctx.path === paths.authorization) normalizeAuthorizationRequest(ctx as KoaContextWithOIDC, resource)
    await next()
  })
  return provider
}

/** Makes a failure, which the server has answered as its own, one that is worth another attempt. */
function sayUnavailable(ctx: KoaContextWithOIDC, log: Logger, cause: Error): void {
  const { message } = catalogue.databaseUnavailable
  log.warn({ err: cause }, 'request refused')
  // It goes on to redirect the browser back to the client, with the error in the URL.
  if (ctx.path === paths.authorization) return
  ctx.status = 503
  ctx.set('retry-after', String(databaseRetryAfterSeconds))
  ctx.body = { error: 'temporarily_unavailable', error_description: message }
}

/**
 * Takes requests as clients send them: without a scope, or with scopes of other servers, they mean the one that there
 * is; a resource in another spelling is the same one. What has no effect here, such as hints of OpenID Connect, is left
 * out: whatever the server knows is stored with the request.
 */
function normalizeAuthorizationRequest(ctx: KoaContextWithOIDC, resource: string): void {
  const { scope, resource: indicator, ...others } = ctx.query
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => name in parameterLengthMax))
  const known = [scope]
    .flat()
    .join(' ')
    .split(' ')
    .filter((part) => part === agentScope || part === offlineScope)
  ctx.query = {
    ...rest,
    scope: known.includes(agentScope) ? known.join(' ') : agentScope,
    ...(indicator !== undefined && { resource: canonicalResource(indicator, resource) }),
  }
}
