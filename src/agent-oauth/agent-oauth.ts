import { AsyncLocalStorage } from 'node:async_hooks'
import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as oauth from 'oauth4webapi'
import type { Provider } from 'oidc-provider'
import type { Logger } from 'pino'
import { turnOfMembersWithCredential, type Changes } from '../access/change.ts'
import { appendEvent } from '../areas/events/events.repository.ts'
import { listMembershipsOfUser, membershipsMax } from '../areas/workspaces/workspaces.repository.ts'
import type { Database } from '../db/client.ts'
import { isDatabaseUnavailable } from '../db/errors.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import { createId } from '../kernel/ids.ts'
import type { Principal } from '../kernel/principal.ts'
import { deriveKey } from '../kernel/sealing.ts'
import { cleanLine, nameLengthMax } from '../kernel/text.ts'
import {
  deleteClient,
  insertGrant,
  listClients,
  replaceGrants,
  type RecordBounds,
} from './oauth-records.repository.ts'
import { agentScope, databaseRetryAfterSeconds, grantLifetimeSeconds, paths } from './protocol.ts'
import { createSigningKeyStore, type Jwk, type SigningKeys, type SigningKeyStore } from './signing-keys.ts'

/** An access token that is genuine, unexpired and for us. Whether its grant still holds is another question. */
export interface VerifiedToken {
  grantId: string
  clientId: string
  scopes: string[]
  /** In seconds since 1970. */
  expiresAt: number
}

/** Answers a request. Of the client's address a digest is kept with a client that is registered. */
export type OAuthHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  clientAddress: string,
) => Promise<void>

/** What a person is asked to allow. */
export interface ConsentRequest {
  uid: string
  clientId: string
  clientName: string
  clientUri: string | null
  /** The host that vouches for the client's metadata; null for a client that registered itself, whose word it is. */
  metadataHost: string | null
  /** Where the person is sent back to: a host, or the scheme of a program on their machine. */
  redirectTarget: string
  scopes: string[]
  /** In days. */
  durationDays: number
}

export interface AgentOAuth {
  /**
   * Gets the OAuth server ready, and returns what hands it a request, which it answers. Throws `database_unavailable`:
   * whoever calls can still answer.
   */
  open(): Promise<OAuthHandler>
  /** The keys that access tokens are verified with (RFC 7517 §5). */
  jwks(): Promise<{ keys: Jwk[] }>
  /** Reads an access token (RFC 9068); undefined for one that is none of ours or no longer valid. */
  verify(accessToken: string): Promise<VerifiedToken | undefined>
  /** What the browser's pending request asks for; undefined when there is none, or no longer. */
  findConsentRequest(request: IncomingMessage, response: ServerResponse): Promise<ConsentRequest | undefined>
  /**
   * Allows the pending request for one of the person's workspaces. Returns where the browser goes on. Throws `not_found`
   * when there is no such request any more, and `not_a_member`.
   */
  allow(exchange: Exchange, principal: Principal, workspaceId: string): Promise<string>
  /** Denies the pending request. Returns where the browser goes on. Throws `not_found`. */
  deny(exchange: Exchange): Promise<string>
  /** Has a new key sign from now on, in every process within a minute. Returns its id. */
  rotateSigningKey(): Promise<string>
  /** Clients, the newest first, with how many there are in all. */
  listClients(filter: { limit?: number }): Promise<{ items: Client[]; total: number }>
  /** Deletes a client and ends its grants. Returns how many; undefined where there is no such client. */
  deleteClient(clientId: string): Promise<number | undefined>
}

/** An agent, as operators see it. */
export interface Client {
  id: string
  /** What it calls itself. */
  name: string | null
  /** Null for a client that is known by its metadata document. */
  registeredAt: string | null
  lastUsedAt: string | null
  /** How many people and workspaces it has access through. */
  grantCount: number
}

/** A request and its answer, as Node has them: the OAuth server reads and writes its own cookies. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

export interface AgentOAuthOptions {
  db: Database
  clock: Clock
  changes: Changes
  log: Logger
  /** Asked once, when the first agent comes. */
  loadAppSecret: () => string
  baseUrl: string
  webUrl: string
  accessTokenLifetimeSeconds: number
  recordBounds: RecordBounds
  /** How client metadata documents are fetched. */
  fetch: typeof fetch
}

// How old the keys of a process may be before it looks for others.
const keysKeptMs = 60_000
const secondsPerDay = 24 * 60 * 60

/** What the OAuth server needs of the database, and the server with it. */
interface Loaded {
  keys: SigningKeys
  provider: Provider
  /** The server's middleware, composed once. */
  answer: ReturnType<Provider['callback']>
  at: number
}

/** Access for agents: the OAuth server, and what the website and the resource need of it. */
export function createAgentOAuth(options: AgentOAuthOptions): AgentOAuth {
  const { db, clock, changes, baseUrl, webUrl } = options
  const resource = `${baseUrl}${paths.mcp}`
  let opened: { appSecret: string; originKey: Buffer; keyStore: SigningKeyStore } | undefined
  const originOfRequest = new AsyncLocalStorage<string>()
  const findOrigin = () => originOfRequest.getStore()
  const server: oauth.AuthorizationServer = { issuer: baseUrl, jwks_uri: `${baseUrl}${paths.jwks}` }
  let loaded: Loaded | undefined
  let loading: Promise<Loaded> | undefined

  function open() {
    if (!opened) {
      const appSecret = options.loadAppSecret()
      opened = {
        appSecret,
        originKey: deriveKey(appSecret, 'origins of clients'),
        keyStore: createSigningKeyStore({ db, clock, appSecret }),
      }
    }
    return opened
  }

  async function reload(): Promise<Loaded> {
    const { appSecret, keyStore } = open()
    const keys = await keyStore.load()
    // Only now: it is large, and says on import what it thinks of old runtimes.
    const { createProvider } = await import('./provider.ts')
    if (loaded?.keys.signing.kid === keys.signing.kid) {
      loaded = { ...loaded, keys, at: Date.now() }
    } else {
      const provider = createProvider({ ...options, appSecret, keys, findOrigin })
      loaded = { keys, provider, answer: provider.callback(), at: Date.now() }
    }
    return loaded
  }

  /** On first use, and then once a minute, so that a key that another process made is known. */
  function load(): Promise<Loaded> {
    if (loaded && Date.now() - loaded.at < keysKeptMs) return Promise.resolve(loaded)
    loading ??= reload().finally(() => {
      loading = undefined
    })
    return loading
  }

  async function findInteraction({ request, response }: Exchange) {
    const { provider } = await load()
    try {
      return { provider, interaction: await provider.interactionDetails(request, response) }
    } catch (error) {
      // SessionNotFound: there is no such request, or it is over.
      if (error instanceof Error && error.name === 'SessionNotFound') return undefined
      throw error
    }
  }

  async function requireInteraction(exchange: Exchange) {
    const found = await findInteraction(exchange)
    if (!found) throw errors.notFound()
    return found
  }

  return {
    async open() {
      try {
        const { answer } = await load()
        const { originKey } = open()
        return (request, response, clientAddress) => {
          const origin = createHmac('sha256', originKey).update(clientAddress).digest('base64url')
          return originOfRequest.run(origin, () => answer(request, response))
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
            // The keys are at hand: nothing is fetched, from wherever the issuer is.
            // eslint-disable-next-line @typescript-eslint/no-deprecated -- it is so called to stand out; see above
            [oauth.allowInsecureRequests]: true,
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
        scopes: String(scope)
          .split(' ')
          .filter((part) => part === agentScope),
        durationDays: grantLifetimeSeconds / secondsPerDay,
      }
    },

    async allow(exchange, principal, workspaceId) {
      const { provider, interaction } = await requireInteraction(exchange)
      const { user } = principal
      const memberships = await listMembershipsOfUser(db, user.id, membershipsMax)
      const workspace = memberships.find(({ id }) => id === workspaceId)
      if (!workspace) throw errors.notAMember()
      const client = await provider.Client.find(String(interaction.params.client_id))
      if (!client) throw errors.notFound()
      const { clientId, clientUri = null } = client
      const clientName = nameOf(client)
      const grantId = createId()
      const place = { id: workspaceId, action: 'integrations.grant' } as const
      // Consents of one workspace take turns, with each other and with whoever leaves it.
      await changes.makeIn(principal, place, turnOfMembersWithCredential, async ({ tx, now, tell }) => {
        for (const id of await replaceGrants(tx, { userId: user.id, clientId, workspaceId }, now)) {
          await tell({
            type: 'integration.revoked',
            target: { type: 'integration', id },
            summary: `${user.name} ended the former access of ${clientName}`,
          })
        }
        await insertGrant(tx, {
          id: grantId,
          clientId,
          clientName,
          clientUri,
          workspaceId,
          userId: user.id,
          scopes: [agentScope],
          createdAt: now,
          expiresAt: new Date(now.getTime() + grantLifetimeSeconds * 1000),
        })
        await appendEvent(
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
      })
      const grant = new provider.Grant({ accountId: user.id, clientId })
      grant.jti = grantId
      grant.addResourceScope(resource, agentScope)
      // The server asks again for a scope that it does not find among its own.
      grant.addOIDCScope(String(interaction.params.scope))
      await grant.save()
      await provider.interactionResult(exchange.request, exchange.response, {
        login: { accountId: user.id, remember: false },
        consent: { grantId },
      })
      return `${webUrl}${paths.authorization}/${interaction.uid}`
    },

    async deny(exchange) {
      const { provider, interaction } = await requireInteraction(exchange)
      await provider.interactionResult(exchange.request, exchange.response, {
        error: 'access_denied',
        error_description: 'The person denied access.',
      })
      return `${webUrl}${paths.authorization}/${interaction.uid}`
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

    deleteClient: (clientId) => deleteClient(db, clientId, clock.now()),

    rotateSigningKey: () => open().keyStore.rotate(),
  }
}

/** What an agent calls itself, as people are shown it: it may call itself anything. */
function nameOf({ clientName = '' }: { clientName?: string | undefined }): string {
  return cleanLine(clientName, nameLengthMax) ?? 'An unnamed application'
}

function describeRedirect(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri)
  return protocol === 'https:' || protocol === 'http:' ? host : `${protocol}//${host}`
}
