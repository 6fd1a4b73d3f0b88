import { timingSafeEqual } from 'node:crypto'
import {
  errors,
  Provider,
  type Configuration,
  type KoaContextWithOIDC,
  type RefreshToken,
} from 'oidc-provider'
import type { Logger } from 'pino'
import type { Database } from '../../db/client.ts'
import { isDatabaseUnavailable } from '../../db/errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { agentScopes } from '../../domain/agent.ts'
import { errors as catalogue } from '../../kernel/errors.ts'
import type { Meter, Outcomes } from '../../kernel/meter.ts'
import { isStorableThroughout } from '../../kernel/text.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { AppSecret } from '../../platform/secrets/app-secret.port.ts'
import type { Answers } from './answers.ts'
import { hasGrant } from './records/grant-records.repository.ts'
import type { KeptDocuments } from './documents/kept-documents.ts'
import { createRecordAdapter } from './records/oauth-records.repository.ts'
import { acceptKeysOfPublicClients, clientAssertions, findClaimFault } from './client-assertions.ts'
import { createServiceTokens } from './service-tokens.ts'
import { AssertionUnverifiable } from './assertions/assertion-errors.ts'
import { addAssertionGrant, type AssertionGrantOptions } from './assertions/assertion-grant.ts'
import {
  assertionAlgorithms,
  canonicalResource,
  clientAuthMethods,
  codeLifetimeSeconds,
  consentLifetimeSeconds,
  documentBytesMax,
  documentHostOf,
  grantLifetimeSeconds,
  grantTypes,
  offlineScope,
  paths,
  serviceGrantType,
  unstorable,
} from './protocol.ts'
import {
  answerUnavailable,
  answerUnreachable,
  describeFailure,
  DocumentsOff,
  explainUnknownClient,
  isAccepted,
  normalizeAuthorizationRequest,
  settleAnswer,
  type Failure,
  type TokenRequest,
} from './provider-requests.ts'
import type { RecordBounds } from './records/record-bounds.repository.ts'
import { assertRedirectUri } from './redirect-uris.ts'
import { createRefreshAdapter, type RefreshRequest } from './refreshes/refresh-adapter.ts'
import { createRefreshTokens } from './refreshes/refresh-tokens.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import { findFormerSecret } from './records/service-clients.repository.ts'
import { hashClientSecret } from './records/stored-records.ts'
import { SigningKey } from './keys/thread-signing-key.ts'

const refreshIdleSeconds = 30 * 24 * 60 * 60

/** The endpoints that only clients with a grant use. */
const grantedOnly = new Set<string>([paths.token, paths.revocation])

export interface ProviderOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
  log: Logger
  meter: Meter
  keys: SigningKeys
  appSecret: AppSecret
  /** The issuer. */
  baseUrl: string
  webUrl: string
  accessTokenLifetimeSeconds: number
  refreshGraceSeconds: number
  refreshLimitPerHour: number
  recordBounds: RecordBounds
  answers: Answers
  /** Shows a failure to the person: the authorization endpoint cannot redirect to the client with it. */
  showFailure: (failure: Failure) => void
  /** A digest of the client's address of the current request. */
  findOrigin: () => string | undefined
  /** The id of the request that is handled. */
  findRequestId: () => string | undefined
  /** Called when tokens have been issued or revoked; with their grant if they were issued. */
  noteAccepted: (of: TokenRequest) => void
  /** Called with the code of the error that a request for tokens, or to revoke them, is refused with. */
  noteRefused: (of: TokenRequest, code: string) => void
  /** Fetches what clients publish, and keeps it. */
  documents: KeptDocuments
  /** Whether clients with metadata documents may ask for authorization. */
  areDocumentsOn: boolean
  /** The identity providers whose assertions let agents in. */
  assertingProviders: AssertionGrantOptions['assertingProviders']
  /** Runs what waits for a document or keys of one of them. */
  whileWaiting: AssertionGrantOptions['whileWaiting']
}

/**
 * Creates the OAuth authorization server (OAuth 2.1; RFC 6749, 7591, 7636, 8707, 9207). oidc-provider implements the
 * protocol. People are identified by the website's session, and their consents are stored in agent_grants.
 */
export function createProvider(options: ProviderOptions): Provider {
  const { db, clock, log, keys, appSecret, baseUrl, webUrl, accessTokenLifetimeSeconds } = options
  const {
    recordBounds: bounds,
    refreshGraceSeconds,
    refreshLimitPerHour,
    jobs,
    findOrigin,
    findRequestId,
  } = options
  const resource = `${baseUrl}${paths.mcp}`
  const alreadyUsed = () => new errors.InvalidGrant('already used')
  const secondsUntil = (time: Date) => Math.ceil((time.getTime() - clock.now().getTime()) / 1000)
  const records = createRecordAdapter({
    db,
    clock,
    jobs,
    bounds,
    findOrigin,
    findRequestId,
    findDocument,
    isReuse,
    alreadyUsed,
    replayed: () => new errors.InvalidClientAuth('client assertion tokens must only be used once'),
    tooMany: (until) => new TooMany(catalogue.tooManyRegistrations.message, secondsUntil(until)),
  })
  const refreshTokens = createRefreshTokens(appSecret)
  const serviceTokens = createServiceTokens({ db, clock })
  const { adapterOf, findSuccessor } = createRefreshAdapter(records, {
    db,
    clock,
    refreshTokens,
    refreshGraceSeconds,
    refreshLimitPerHour,
    alreadyUsed,
    findRefresh,
    tooMany: (until) => new TooMany(catalogue.tooManyRefreshes.message, secondsUntil(until)),
  })
  /** The client of a request, and the grant that tokens were issued of. */
  function findTokens(ctx: KoaContextWithOIDC): TokenRequest {
    const { Grant, AccessToken } = ctx.oidc.entities
    const serviceGrantId = serviceTokens.grantIdOf(ctx)
    const grantId = serviceGrantId ?? Grant?.jti ?? AccessToken?.grantId
    return {
      clientId: ctx.oidc.client?.clientId,
      isService: serviceGrantId !== undefined,
      ...(ctx.path === paths.token && { grantId }),
    }
  }

  /** Leaves the response to `showFailure`. */
  function fail(
    ctx: Pick<KoaContextWithOIDC, 'status' | 'respond' | 'remove'>,
    failure: Omit<Failure, 'status'>,
  ): void {
    ctx.respond = false
    ctx.remove('location')
    options.showFailure({ ...failure, status: ctx.status })
  }

  function assertDocumentsOn(path: string | undefined, clientId: string): void {
    if (!options.areDocumentsOn && path === paths.authorization) throw new DocumentsOff(clientId)
  }

  const configuration: Configuration = {
    adapter: adapterOf,
    jwks: { keys: [new SigningKey(keys.signing)] },
    cookies: {
      keys: appSecret.keysOf('oauth cookies').map((key) => key.toString('base64url')),
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
    scopes: [...agentScopes, offlineScope],
    claims: {},
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: [...clientAuthMethods],
    clientDefaults: {
      // Allows any loopback port and private-use schemes; https URLs must match exactly.
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: [...grantTypes],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
    // Called for registrations, documents and stored clients alike.
    extraClientMetadata: {
      properties: ['scope', 'redirect_uris', 'jwks_uri'],
      validator: (_ctx, name, value, metadata) => {
        if (!isStorableThroughout({ ...metadata })) throw new errors.InvalidClientMetadata(unstorable)
        // RFC 7591 §2: the server may replace values. Every client may ask for every scope.
        if (name === 'scope') delete metadata.scope
        else if (Array.isArray(value)) value.forEach(assertRedirectUri)
        else if (name === 'jwks_uri' && value !== undefined) assertHttps(value)
      },
    },
    // What is kept of a document is longer than the document, by the defaults of oidc-provider.
    fetchResponseBodyLimits: { 'client_id metadata document': 2 * documentBytesMax, jwks_uri: Infinity },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'], clientAuthSigningAlgValues: [...assertionAlgorithms] },
    ttl: {
      AccessToken: accessTokenLifetimeSeconds,
      ClientCredentials: accessTokenLifetimeSeconds,
      AuthorizationCode: codeLifetimeSeconds,
      RefreshToken: refreshIdleSeconds,
      Grant: grantLifetimeSeconds,
      Interaction: consentLifetimeSeconds,
      Session: consentLifetimeSeconds,
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    findAccount: async (ctx, id) => {
      // The only callback of a token request between reading its parameters and comparing the resource.
      const { params } = ctx.oidc
      if (typeof params?.resource === 'string') params.resource = canonicalResource(params.resource, resource)
      return { accountId: id, claims: async () => ({ sub: id }) }
    },
    // The grant that the token belongs to.
    extraTokenClaims: async (ctx, token) => ({
      gid: 'grantId' in token ? token.grantId : serviceTokens.grantIdOf(ctx),
    }),
    // Only the consent of this request counts, not an earlier one.
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId)
    },
    interactions: { url: async (_ctx, interaction) => `${webUrl}${paths.consent}/${interaction.uid}` },
    clientBasedCORS: () => true,
    renderError: (ctx, out, error) => fail(ctx, describeFailure(out, error)),
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      clientCredentials: { enabled: true },
      registration: { enabled: true, issueRegistrationAccessToken: false },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      rpMetadataChoices: { enabled: true },
      externalSigningSupport: { enabled: true, ack: 'experimental-01' },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        // Also called for documents that oidc-provider has in memory.
        allowClient: (ctx: KoaContextWithOIDC | undefined, { clientId }) => {
          assertDocumentsOn(ctx?.path, clientId)
          return true
        },
        // Nobody has given access to other clients, so there is nothing to fetch their documents for.
        allowFetch: async (ctx: KoaContextWithOIDC | undefined, clientId) => {
          const path = ctx?.path ?? ''
          assertDocumentsOn(path, clientId)
          if (!grantedOnly.has(path) || (await hasGrant(db, clientId))) return true
          throw new errors.InvalidClient(
            'No person has given this client access. Ask for authorization first.',
          )
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: async () => resource,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (ctx, indicator, client) => {
          if (canonicalResource(indicator, resource) !== resource) throw new errors.InvalidTarget()
          if (isOfService(ctx)) await serviceTokens.prepare(ctx, client)
          return {
            scope: agentScopes.join(' '),
            audience: resource,
            accessTokenTTL: accessTokenLifetimeSeconds,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }
        },
      },
    },
    ...clientAssertions(options),
  }

  const provider = new Provider(baseUrl, configuration)
  addAssertionGrant(provider, { ...options, resource })
  acceptKeysOfPublicClients(provider)
  // Secrets are stored hashed. The server awaits the comparison, so that it can be replaced.
  provider.Client.prototype.compareClientSecret = async function (actual) {
    const given = Buffer.from(hashClientSecret(actual))
    const isOf = (hash: string) => {
      const stored = Buffer.from(hash)
      return given.length === stored.length && timingSafeEqual(given, stored)
    }
    if (isOf(this.clientSecret ?? '')) return true
    return isOf((await findFormerSecret(db, this.clientId, clock.now())) ?? '')
  }
  // The types lack it: https://github.com/panva/node-oidc-provider, lib/models/base_model.js.
  const prototype: RefreshToken & { generateTokenId?: () => string } = provider.RefreshToken.prototype
  prototype.generateTokenId = function (this: RefreshToken) {
    const { grantId, iiat: chain, rotations: generation = 0 } = this
    return refreshTokens.create({ grantId: String(grantId), chain, generation })
  }
  // A token that was exchanged before is answered with its successor, not with the new one.
  const inherited = Object.getPrototypeOf(prototype) as RefreshToken
  prototype.save = async function (this: RefreshToken) {
    const saved = await inherited.save.call(this)
    return findSuccessor() ?? saved
  }
  // The routes set the forwarded host and scheme from the settings, so a client cannot.
  provider.proxy = true
  provider.on('server_error', (ctx, error) => {
    if (!isDatabaseUnavailable(error)) log.error({ err: error }, 'OAuth server error')
    else answerUnavailable(ctx, log, error)
  })
  const sendRetryAfter = (ctx: KoaContextWithOIDC, error: Error) => {
    if (error instanceof TooMany || error instanceof AssertionUnverifiable)
      ctx.set('retry-after', String(error.retryAfterSeconds))
    else answerUnreachable(ctx, error)
  }
  const refuse = (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) => {
    const clientId = ctx.oidc.client?.clientId
    options.noteRefused({ clientId }, error.message)
    if (error instanceof errors.InvalidClientAuth) {
      const fault = findClaimFault(error)
      const reason = fault ?? error.error_description
      log.info({ requestId: findRequestId(), clientId, reason }, 'a client was not authenticated')
      if (fault !== undefined)
        ctx.body = { ...(ctx.body as object), error_description: `client authentication failed: ${fault}` }
    }
    sendRetryAfter(ctx, error)
  }
  provider.on('grant.error', refuse)
  provider.on('revocation.error', refuse)
  provider.on('registration_create.error', sendRetryAfter)
  provider.use(async (ctx, next) => {
    if (ctx.path === paths.authorization) normalizeAuthorizationRequest(ctx as KoaContextWithOIDC, resource)
    await next()
    explainUnknownClient(ctx as KoaContextWithOIDC, baseUrl)
    if (isAccepted(ctx as KoaContextWithOIDC)) options.noteAccepted(findTokens(ctx as KoaContextWithOIDC))
    if (isRefresh(ctx)) options.meter.count('refreshes', outcomeOf(ctx.status))
    await settleAnswer(ctx as KoaContextWithOIDC, options, fail)
  })
  return provider
}

/** The metadata document of the client that sends the current authorization request; undefined if it is registered. */
function findDocument(): object | undefined {
  const client = Provider.ctx?.oidc.client
  return client && documentHostOf(client.clientId) !== null ? client.metadata() : undefined
}

/** The keys of a client are fetched over https only. */
function assertHttps(value: unknown): void {
  if (typeof value === 'string' && value.startsWith('https://')) return
  throw new errors.InvalidClientMetadata('jwks_uri must be an https URL')
}

/** The error of a limit that only the provider can check, in the form of the others of these endpoints. */
class TooMany extends errors.CustomOIDCProviderError {
  override readonly statusCode = 429
  readonly retryAfterSeconds: number

  constructor(description: string, retryAfterSeconds: number) {
    super('temporarily_unavailable', description)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The refresh that is being handled; undefined for all other requests. */
function findRefresh(): RefreshRequest | undefined {
  const { oidc } = Provider.ctx ?? {}
  const { grant_type: grantType, refresh_token: refreshToken } = oidc?.params ?? {}
  if (!oidc || grantType !== 'refresh_token' || typeof refreshToken !== 'string') return undefined
  // The grant decides. A client that asks for what the person no longer allows would be refused.
  if (oidc.params?.scope !== undefined) oidc.params.scope = undefined
  return { context: oidc, refreshToken }
}

/** Whether a client of a service account asks for a token. */
function isOfService({ path, oidc }: KoaContextWithOIDC): boolean {
  return path === paths.token && oidc.params?.grant_type === serviceGrantType
}

/** Whether a request asks for a refresh, also one that was refused before its token was read. */
function isRefresh({
  path,
  oidc,
}: Pick<KoaContextWithOIDC, 'path'> & { oidc?: { params?: Params } }): boolean {
  return path === paths.token && oidc?.params?.grant_type === 'refresh_token'
}

type Params = KoaContextWithOIDC['oidc']['params']

function outcomeOf(status: number): Outcomes['refreshes'] {
  if (status === 200) return 'succeeded'
  if (status === 429) return 'limited'
  return status < 500 ? 'refused' : 'failed'
}

/** Whether a grant that ends now ends because a code or token was used again, the only cause at the token endpoint. */
function isReuse(): boolean {
  return Provider.ctx?.oidc.route === 'token'
}
