import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import type { Logger } from 'pino'
import type { Changes } from '../../access/change.ts'
import type { Database } from '../../db/client.ts'
import { isDatabaseUnavailable } from '../../db/errors.ts'
import { createWriteBehind } from '../../concurrency/write-behind.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import type { Meter } from '../../kernel/meter.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { AppSecret } from '../../platform/secrets/app-secret.port.ts'
import { createTokenVerifier, type VerifiedToken } from './keys/access-tokens.ts'
import type { AssertingProvider } from './assertions/assertion-grant.ts'
import { createAnswers } from './answers.ts'
import { deleteClient, listClients } from './records/clients.repository.ts'
import { createConsents, type Consents } from './consents.ts'
import { databaseRetryAfterSeconds } from './protocol.ts'
import { createKeptDocuments } from './documents/kept-documents.ts'
import type { Failure, TokenRequest } from './provider-requests.ts'
import { recordGrantAddresses, type Fetched } from './records/grant-addresses.repository.ts'
import type { RecordBounds } from './records/record-bounds.repository.ts'
import { createSigningKeyStore, type Jwk, type SigningKeys } from './keys/signing-keys.ts'

/** What the OAuth server has to know of a request, besides what the client has sent. */
export interface RequestContext {
  requestId: string
  /** The client's address. A registered client is stored with a digest of it. */
  address: string
  /** Runs what waits for a document of the client. */
  whileWaiting: <Result>(wait: () => Promise<Result>) => Promise<Result>
  /** Called when tokens have been issued or revoked. */
  noteAccepted: (of: TokenRequest) => void
  /** Called with the code of the error that a request for tokens, or to revoke them, is refused with. */
  noteRefused: (of: TokenRequest, code: string) => void
}

/** Answers a request. Returns a failure instead when a person has to be shown it. */
export type OAuthHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
) => Promise<Failure | undefined>

export type { Failure }

export interface AgentOAuth extends Consents {
  /**
   * Loads the OAuth server and returns its request handler. Throws `database_unavailable` before the handler takes over
   * the response.
   */
  loadHandler(): Promise<OAuthHandler>
  /** The public keys of access tokens (RFC 7517 §5). */
  jwks(): Promise<{ keys: Jwk[] }>
  /** Verifies an access token (RFC 9068); undefined if it is invalid or has expired. */
  verify(accessToken: string): Promise<VerifiedToken | undefined>
  /**
   * Creates a new signing key, which every process uses within a minute. Returns its id; undefined if APP_SECRET is not
   * that of the existing keys.
   */
  rotateSigningKey(): Promise<string | undefined>
  /** Lists clients, newest first, with the total number. */
  listClients(filter: { limit?: number }): Promise<{ items: Client[]; total: number }>
  /** Deletes a client and revokes its grants. Returns their number; undefined if there is no such client. */
  deleteClient(clientId: string): Promise<number | undefined>
  /** Writes where tokens were fetched, and stops. */
  close(): Promise<void>
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

export interface AgentOAuthOptions {
  db: Database
  clock: Clock
  changes: Changes
  jobs: JobQueue
  log: Logger
  meter: Meter
  appSecret: AppSecret
  baseUrl: string
  webUrl: string
  accessTokenLifetimeSeconds: number
  /** How long after its first exchange a refresh token is answered with the same successor. */
  refreshGraceSeconds: number
  /** Exchanges of refresh tokens an hour for each chain of them; 0 = no limit. */
  refreshLimitPerHour: number
  recordBounds: RecordBounds
  /** Whether clients with metadata documents may ask for authorization. */
  areDocumentsOn: boolean
  /** Fetches client metadata documents and keys of clients, whose URLs are untrusted. */
  fetch: typeof fetch
  /** The identity providers that the operator trusts to let agents in by assertions. */
  assertingProviders: readonly AssertingProvider[]
  /** Whether APP_SECRET does not open something that is stored in the database. */
  isSecretForeign: () => Promise<boolean>
}

// How long a process uses its keys before it loads them again.
const keysKeptMs = 60_000
const placesWaitingMax = 10_000

/** The OAuth server and its signing keys. */
interface Loaded {
  keys: SigningKeys
  provider: Provider
  /** The request handler of the provider, which composes its middleware. */
  answer: ReturnType<Provider['callback']>
  at: number
}

/** Creates the OAuth server, with the functions that the website and the protected resource need. */
export function createAgentOAuth(options: AgentOAuthOptions): AgentOAuth {
  const { db, clock, baseUrl, appSecret } = options
  const origins = appSecret.tagsOf('origins of clients')
  const keyStore = createSigningKeyStore(options)
  const answers = createAnswers({ db, clock, appSecret })
  const handled = new AsyncLocalStorage<RequestContext & { failure?: Failure }>()
  const whileWaiting = <Result>(wait: () => Promise<Result>) =>
    handled.getStore()?.whileWaiting(wait) ?? wait()
  const fetchDocument: typeof fetch = (input, init) => whileWaiting(() => options.fetch(input, init))
  const documents = createKeptDocuments({ ...options, fetch: fetchDocument })
  const findOrigin = () => {
    const address = handled.getStore()?.address
    if (address === undefined) return undefined
    return origins.create(address).toString('base64url')
  }
  const findRequestId = () => handled.getStore()?.requestId
  const showFailure = (failure: Failure) => {
    const handling = handled.getStore()
    if (handling) handling.failure = failure
  }
  const fetched = createWriteBehind<Fetched>({
    keyOf: ({ grantId, address }) => `${grantId} ${address}`,
    merge: (_before, fetched) => fetched,
    write: (batch) => recordGrantAddresses(db, batch),
    waitingMax: placesWaitingMax,
    onError: (error) =>
      options.log.warn({ err: error }, 'where tokens were fetched could not be written; will retry'),
  })
  const noteRefused = (of: TokenRequest, code: string) => handled.getStore()?.noteRefused(of, code)
  const noteAccepted = (of: TokenRequest) => {
    const { grantId, isService = false } = of
    const handling = handled.getStore()
    handling?.noteAccepted(of)
    if (handling && grantId !== undefined && !isService)
      fetched.add({ grantId, address: handling.address, at: clock.now() })
  }
  let loaded: Loaded | undefined
  let loading: Promise<Loaded> | undefined

  async function reload(): Promise<Loaded> {
    const keys = await keyStore.load()
    // Imported on first use: oidc-provider is large, and warns about older versions of Node.
    const { createProvider } = await import('./provider.ts')
    if (loaded?.keys.signing.kid === keys.signing.kid) {
      loaded = { ...loaded, keys, at: performance.now() }
    } else {
      const provider = createProvider({
        ...options,
        keys,
        findOrigin,
        findRequestId,
        answers,
        showFailure,
        noteAccepted,
        noteRefused,
        documents,
        whileWaiting,
      })
      loaded = { keys, provider, answer: provider.callback(), at: performance.now() }
    }
    return loaded
  }

  /** Reloads the keys once a minute, so that the keys of other processes are known. */
  function load(): Promise<Loaded> {
    if (loaded && performance.now() - loaded.at < keysKeptMs) return Promise.resolve(loaded)
    loading ??= reload().finally(() => {
      loading = undefined
    })
    return loading
  }

  const verify = createTokenVerifier(baseUrl)
  const consents = createConsents({
    ...options,
    loadProvider: async () => (await load()).provider,
    answers,
  })

  return {
    ...consents,

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
      return verify(accessToken, keys.verifying)
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

    rotateSigningKey: () => keyStore.rotate(),

    close: () => fetched.close(),
  }
}
