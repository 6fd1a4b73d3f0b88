import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as oauth from 'oauth4webapi'
import type { Provider } from 'oidc-provider'
import type { Logger } from 'pino'
import { lockMembersWithCredential, type Changes } from '../access/change.ts'
import { insertEvent } from '../access/event-log.repository.ts'
import { listMembershipsOfUser, membershipsMax } from '../areas/workspaces/workspaces.repository.ts'
import type { Database } from '../db/client.ts'
import { isDatabaseUnavailable } from '../db/errors.ts'
import type { Clock } from '../kernel/clock.ts'
import { toAgentScopes, type AgentScope } from '../kernel/agent.ts'
import { errors } from '../kernel/errors.ts'
import { createId } from '../kernel/ids.ts'
import type { Principal } from '../kernel/principal.ts'
import { deriveKey } from '../kernel/sealing.ts'
import { cleanLine, nameLengthMax } from '../kernel/text.ts'
import {
  deleteClient,
  insertGrant,
  listClients,
  revokeReplacedGrants,
  type RecordBounds,
} from './oauth-records.repository.ts'
import { databaseRetryAfterSeconds, paths, type GrantDays } from './protocol.ts'
import type { JobQueue } from '../platform/jobs/jobs.port.ts'
import type { Failure } from './provider.ts'
import { createAnswers, type Answers } from './answers.ts'
import { storeDecision } from './decisions.repository.ts'
import { createSigningKeyStore, type Jwk, type SigningKeys, type SigningKeyStore } from './signing-keys.ts'

/** The claims of a valid access token. Its grant may have been revoked. */
export interface VerifiedToken {
  grantId: string
  clientId: string
  scopes: string[]
  /** In seconds since 1970. */
  expiresAt: number
}

/** What the OAuth server has to know of a request, besides what the client has sent. */
export interface RequestContext {
  /** The client's address. A registered client is stored with a digest of it. */
  address: string
  /** Runs what waits for a document of the client. */
  whileWaiting: <Result>(wait: () => Promise<Result>) => Promise<Result>
  /** Called when tokens have been issued or revoked. */
  noteAccepted: () => void
}

/** Answers a request. Returns a failure instead when a person has to be shown it. */
export type OAuthHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
) => Promise<Failure | undefined>

export type { Failure }

/** An agent's request for consent. */
export interface ConsentRequest {
  uid: string
  clientId: string
  clientName: string
  clientUri: string | null
  /** The host of the client's metadata document; null for a registered client, whose metadata is unverified. */
  metadataHost: string | null
  /** Where the browser is redirected: a host, or the scheme of a program on the person's computer. */
  redirectTarget: string
  /** The scopes that the agent asks for. The person decides which of them it gets. */
  scopes: AgentScope[]
  /** Whether the person has already allowed or denied it, which holds. */
  isDecided: boolean
}

/** What a person gives to an agent. */
export interface Choice {
  workspaceId: string
  /** Besides the scope that every grant has. */
  scopes: readonly AgentScope[]
  days: GrantDays
}

export interface AgentOAuth {
  /**
   * Loads the OAuth server and returns its request handler. Throws `database_unavailable` before the handler takes over
   * the response.
   */
  loadHandler(): Promise<OAuthHandler>
  /** The public keys of access tokens (RFC 7517 §5). */
  jwks(): Promise<{ keys: Jwk[] }>
  /** Verifies an access token (RFC 9068); undefined if it is invalid or has expired. */
  verify(accessToken: string): Promise<VerifiedToken | undefined>
  /** Finds the pending request of a browser; undefined if there is none or it has expired. */
  findConsentRequest(request: IncomingMessage, response: ServerResponse): Promise<ConsentRequest | undefined>
  /**
   * Creates a grant for the pending request as the person has chosen, whatever the agent asked for, and revokes the grant that it replaces.
   * Returns the URL to redirect to: for a request that was decided before, that of the first decision. Throws
   * `consent_expired` if the request has expired or its code was used, and `not_a_member`.
   */
  allow(exchange: Exchange, principal: Principal, choice: Choice): Promise<string>
  /** Denies the pending request. Returns the URL to redirect to, and throws, as `allow` does. */
  deny(exchange: Exchange): Promise<string>
  /** Creates a new signing key, which every process uses within a minute. Returns its id. */
  rotateSigningKey(): Promise<string>
  /** Lists clients, newest first, with the total number. */
  listClients(filter: { limit?: number }): Promise<{ items: Client[]; total: number }>
  /** Deletes a client and revokes its grants. Returns their number; undefined if there is no such client. */
  deleteClient(clientId: string): Promise<number | undefined>
}

/** An OAuth client in the operators' list. */
export interface Client {
  id: string
  /** Chosen by the client. */
  name: string | null
  /** Null for a client with a metadata document. */
  registeredAt: string | null
  lastUsedAt: string | null
  /** The number of active grants. */
  grantCount: number
}

/** Node's request and response, from which the OAuth server reads and writes its own cookies. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

export interface AgentOAuthOptions {
  db: Database
  clock: Clock
  changes: Changes
  jobs: JobQueue
  log: Logger
  /** Called once, by the first use. */
  loadAppSecret: () => string
  baseUrl: string
  webUrl: string
  accessTokenLifetimeSeconds: number
  /** How long after its first exchange a refresh token is answered with the same successor. */
  refreshGraceSeconds: number
  /** Exchanges of refresh tokens an hour for each grant; 0 = no limit. */
  refreshLimitPerHour: number
  recordBounds: RecordBounds
  /** Fetches client metadata documents. */
  fetch: typeof fetch
}

// How long a process uses its keys before it loads them again.
const keysKeptMs = 60_000
const msPerDay = 24 * 60 * 60 * 1000

/** The OAuth server and its signing keys. */
interface Loaded {
  keys: SigningKeys
  provider: Provider
  /** The request handler of the provider, which composes its middleware. */
  answer: ReturnType<Provider['callback']>
  at: number
}

/** A pending request, and the OAuth server that it was sent to. */
interface Found {
  provider: Provider
  interaction: Awaited<ReturnType<Provider['interactionDetails']>>
}

/** Creates the OAuth server, with the functions that the website and the protected resource need. */
export function createAgentOAuth(options: AgentOAuthOptions): AgentOAuth {
  const { db, clock, changes, baseUrl, webUrl } = options
  const resource = `${baseUrl}${paths.mcp}`
  let secrets:
    { appSecret: string; originKey: Buffer; keyStore: SigningKeyStore; answers: Answers } | undefined
  const handled = new AsyncLocalStorage<RequestContext & { failure?: Failure }>()
  const fetchDocument: typeof fetch = (input, init) => {
    const wait = () => options.fetch(input, init)
    return handled.getStore()?.whileWaiting(wait) ?? wait()
  }
  const findOrigin = () => {
    const address = handled.getStore()?.address
    if (address === undefined) return undefined
    return createHmac('sha256', loadSecrets().originKey).update(address).digest('base64url')
  }
  const showFailure = (failure: Failure) => {
    const handling = handled.getStore()
    if (handling) handling.failure = failure
  }
  const server: oauth.AuthorizationServer = { issuer: baseUrl, jwks_uri: `${baseUrl}${paths.jwks}` }
  let loaded: Loaded | undefined
  let loading: Promise<Loaded> | undefined

  function loadSecrets() {
    if (!secrets) {
      const appSecret = options.loadAppSecret()
      secrets = {
        appSecret,
        originKey: deriveKey(appSecret, 'origins of clients'),
        keyStore: createSigningKeyStore({ db, clock, appSecret }),
        answers: createAnswers({ db, clock, appSecret }),
      }
    }
    return secrets
  }

  async function reload(): Promise<Loaded> {
    const { appSecret, keyStore, answers } = loadSecrets()
    const keys = await keyStore.load()
    // Imported on first use: oidc-provider is large, and warns about older versions of Node.
    const { createProvider } = await import('./provider.ts')
    if (loaded?.keys.signing.kid === keys.signing.kid) {
      loaded = { ...loaded, keys, at: Date.now() }
    } else {
      const provider = createProvider({
        ...options,
        appSecret,
        keys,
        findOrigin,
        answers,
        showFailure,
        noteAccepted: () => handled.getStore()?.noteAccepted(),
        fetch: fetchDocument,
      })
      loaded = { keys, provider, answer: provider.callback(), at: Date.now() }
    }
    return loaded
  }

  /** Reloads the keys once a minute, so that the keys of other processes are known. */
  function load(): Promise<Loaded> {
    if (loaded && Date.now() - loaded.at < keysKeptMs) return Promise.resolve(loaded)
    loading ??= reload().finally(() => {
      loading = undefined
    })
    return loading
  }

  async function findInteraction({ request, response }: Exchange): Promise<Found | undefined> {
    const { provider } = await load()
    try {
      return { provider, interaction: await provider.interactionDetails(request, response) }
    } catch (error) {
      // SessionNotFound: there is no such request, or it has expired.
      if (error instanceof Error && error.name === 'SessionNotFound') return undefined
      throw error
    }
  }

  async function requireInteraction(exchange: Exchange): Promise<Found> {
    const found = await findInteraction(exchange)
    if (!found) throw errors.consentExpired()
    return found
  }

  /** Where the browser continues once a request is decided. Throws `consent_expired` once its code was used. */
  async function findNext({ interaction }: Found): Promise<string> {
    const { answers } = loadSecrets()
    const answer = await answers.find(interaction.uid)
    if (answer === undefined) return `${webUrl}${paths.authorization}/${interaction.uid}`
    if (await answers.isUsed(answer)) throw errors.consentExpired()
    return answer
  }

  return {
    async loadHandler() {
      try {
        const { answer } = await load()
        return async (request, response, context) => {
          const handling: RequestContext & { failure?: Failure } = { ...context }
          await handled.run(handling, () => answer(request, response))
          return handling.failure
        }
      } catch (error) {
        if (!isDatabaseUnavailable(error)) throw error
        throw errors.databaseUnavailable({ cause: error, retryAfterSeconds: databaseRetryAfterSeconds })
      }
    },

    async jwks() {
      const { keys } = await load()
      return { keys: keys.verifying }
    },

    async verify(accessToken) {
      const { keys } = await load()
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
            [oauth.customFetch]: async () => Response.json({ keys: keys.verifying }),
            [oauth.jwksCache]: { jwks: { keys: keys.verifying }, uat: Math.floor(Date.now() / 1000) },
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
        if (error instanceof oauth.WWWAuthenticateChallengeError || error instanceof TypeError)
          return undefined
        throw error
      }
    },

    async findConsentRequest(request, response) {
      const found = await findInteraction({ request, response })
      if (!found) return undefined
      const { client_id: clientId, redirect_uri: redirectUri, scope } = found.interaction.params
      const client = await found.provider.Client.find(String(clientId))
      if (!client) return undefined
      return {
        uid: found.interaction.uid,
        clientId: client.clientId,
        clientName: nameOf(client),
        clientUri: client.clientUri ?? null,
        metadataHost: client.clientId.startsWith('https://') ? new URL(client.clientId).host : null,
        redirectTarget: describeRedirect(String(redirectUri)),
        scopes: toAgentScopes(String(scope).split(' ')),
        isDecided: found.interaction.result !== undefined,
      }
    },

    async allow(exchange, principal, { workspaceId, days, ...choice }) {
      const found = await requireInteraction(exchange)
      const { provider, interaction } = found
      if (interaction.result) return findNext(found)
      const { user } = principal
      const memberships = await listMembershipsOfUser(db, user.id, membershipsMax)
      const workspace = memberships.find(({ id }) => id === workspaceId)
      if (!workspace) throw errors.notAMember()
      const client = await provider.Client.find(String(interaction.params.client_id))
      if (!client) throw errors.consentExpired()
      const { clientId, clientUri = null } = client
      const clientName = nameOf(client)
      const grantId = createId()
      const scopes = toAgentScopes(choice.scopes)
      const scope = scopes.join(' ')
      const grant = new provider.Grant({ accountId: user.id, clientId })
      grant.jti = grantId
      grant.addResourceScope(resource, scope)
      // The server asks for consent again unless its own scopes are granted as well.
      grant.addOIDCScope(scope)
      // Before the decision, so that whoever reads the decision finds it. It has no effect without a row of agent_grants.
      await grant.save()
      const place = { id: workspaceId, action: 'integrations.grant' } as const
      let isFirst = false
      try {
        // Under the lock of members, so that nobody leaves the workspace meanwhile.
        isFirst = await changes.makeIn(
          principal,
          place,
          lockMembersWithCredential,
          async ({ tx, now, appendEvent }) => {
            const result = { login: { accountId: user.id, remember: false }, consent: { grantId } }
            if (!(await storeDecision(tx, interaction.uid, { result, scope }, now))) return false
            for (const id of await revokeReplacedGrants(
              tx,
              { userId: user.id, clientId, workspaceId },
              now,
            )) {
              appendEvent({
                type: 'integration.revoked',
                target: { type: 'integration', id },
                summary: `${user.name} replaced the access of ${clientName}`,
              })
            }
            await insertGrant(tx, {
              id: grantId,
              clientId,
              clientName,
              clientUri,
              workspaceId,
              userId: user.id,
              scopes,
              createdAt: now,
              expiresAt: new Date(now.getTime() + days * msPerDay),
            })
            await insertEvent(
              tx,
              { ...principal, grantId },
              {
                workspaceId,
                type: 'integration.granted',
                target: { type: 'integration', id: grantId },
                summary: `${user.name} gave ${clientName} access to ${workspace.name}`,
                at: now,
              },
            )
            return true
          },
        )
      } finally {
        if (!isFirst) await grant.destroy()
      }
      return findNext(found)
    },

    async deny(exchange) {
      const found = await requireInteraction(exchange)
      const result = { error: 'access_denied', error_description: 'The person denied access.' }
      await storeDecision(db, found.interaction.uid, { result }, clock.now())
      return findNext(found)
    },

    async listClients({ limit }) {
      const rows = await listClients(db, { limit, now: clock.now() })
      const items = rows.map(({ id, name, registeredAt, lastUsedAt, grantCount }) => ({
        id,
        name,
        registeredAt: registeredAt?.toISOString() ?? null,
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
        grantCount,
      }))
      return { items, total: rows[0]?.total ?? 0 }
    },

    deleteClient: (clientId) => deleteClient({ db, jobs: options.jobs }, clientId, clock.now()),

    rotateSigningKey: () => loadSecrets().keyStore.rotate(),
  }
}

/** The name that an agent chose, made safe to show to people. */
function nameOf({ clientName = '' }: { clientName?: string | undefined }): string {
  return cleanLine(clientName, nameLengthMax) ?? 'An unnamed application'
}

function describeRedirect(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri)
  return protocol === 'https:' || protocol === 'http:' ? host : `${protocol}//${host}`
}
