import { lockMembersWithCredential, type Changes, type WorkspaceChangeContext } from '../../access/change.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import {
  findServiceAccount,
  type ServiceAccountRow,
} from '../../areas/serviceAccounts/serviceAccounts.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import {
  consentVersion,
  scopesOfRole,
  toAgentScopes,
  unaskedOf,
  type AgentScope,
} from '../../domain/agent.ts'
import { isWithin, overlapSecondsDefault, unrestricted } from '../../domain/key-restrictions.ts'
import type { Principal } from '../../domain/principal.ts'
import { mayGrant, type Role } from '../../domain/roles.ts'
import {
  serviceClientDays,
  serviceClientsMax,
  type ServiceClientMethod,
} from '../../domain/service-accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { requireLabel } from '../../kernel/text.ts'
import { createToken } from '../../kernel/tokens.ts'
import { prolongGrant, revokeGrant } from '../grants/grants.repository.ts'
import {
  deleteClientRecord,
  insertServiceClient,
  replaceClientSecret,
  type ClientAuthentication,
} from '../oauth/records/service-clients.repository.ts'
import { requireKeysUrl, requirePublicKeys } from './client-keys.ts'
import { countServiceClients, listServiceClients, lockServiceClient } from './service-clients.repository.ts'
import type { ServiceClient } from './service-clients.schemas.ts'

export type { ServiceClient }

/** Where the clients of a service account are. */
export interface ServiceClientsPath {
  slug: string
  serviceAccountId: string
}

/** Where one of them is. */
export interface ServiceClientPath extends ServiceClientsPath {
  serviceClientId: string
}

export interface ServiceClientInput {
  name: string
  method: ServiceClientMethod
  /** The public keys of a client with `private_key_jwt`, or where they are fetched: one of both. */
  jwks?: { keys: object[] }
  jwksUri?: string
  /** Besides the scope that every client has. */
  scopes: readonly AgentScope[]
}

/**
 * The OAuth clients of service accounts, which act as them as agents do, without a person. Each is a grant to a client of
 * its own. Owners and admins manage those of accounts whose role is at most their own: `role_too_high`. `not_found` for an
 * account or a client that does not exist.
 */
export interface ServiceClientsService {
  /** Those whose access has not ended, newest first. */
  list(principal: Principal, path: ServiceClientsPath): Promise<ServiceClient[]>
  /**
   * Returns the secret once; null for a client with keys. Throws `label_invalid`, `client_keys_invalid`, `scope_too_high`,
   * `scope_on_website_only`, `service_client_limit`, and `key_restricted` by a key that may do less.
   */
  create(
    principal: Principal,
    path: ServiceClientsPath,
    input: ServiceClientInput,
  ): Promise<{ client: ServiceClient; secret: string | null }>
  /**
   * Returns a new secret. The old one works for `overlapSeconds`, by default a day. Throws `client_rotated` while a former one
   * works, unless the overlap is 0, `client_without_secret`, `scope_on_website_only` and `key_restricted`.
   */
  rotate(
    principal: Principal,
    path: ServiceClientPath,
    input: { overlapSeconds?: number },
  ): Promise<{ name: string; clientId: string; secret: string }>
  /** Idempotent. Returns the name of the client. */
  revoke(principal: Principal, path: ServiceClientPath): Promise<string>
  /** Lets the access of a client end a year from now. Returns its name. Throws `not_found` for one whose access has ended. */
  prolong(principal: Principal, path: ServiceClientPath): Promise<string>
}

export interface ServiceClientsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
}

const lifetimeMs = serviceClientDays * 24 * 60 * 60 * 1000

export function createServiceClientsService(options: ServiceClientsServiceOptions): ServiceClientsService {
  const { db, clock, changes, requireWorkspace } = options

  async function find(executor: Executor, workspaceId: string, id: string): Promise<ServiceAccountRow> {
    const account = isId(id) ? await findServiceAccount(executor, { workspaceId, id }) : undefined
    if (!account) throw errors.notFound()
    return account
  }

  /** Changes the clients of a service account that the caller may manage, while the members of the workspace are locked. */
  async function change<Result>(
    principal: Principal,
    { slug, serviceAccountId }: ServiceClientsPath,
    action: WorkspaceAction,
    run: (
      context: WorkspaceChangeContext,
      managed: { account: ServiceAccountRow; workspaceId: string },
    ) => Promise<Result>,
  ): Promise<Result> {
    const workspace = await requireWorkspace(principal, slug, action)
    return changes.makeIn(principal, workspace, lockMembersWithCredential, async (context, actorRole) => {
      const account = await find(context.tx, workspace.id, serviceAccountId)
      if (!mayGrant(actorRole, account.role)) throw errors.roleTooHigh()
      return run(context, { account, workspaceId: workspace.id })
    })
  }

  return {
    async list(principal, { slug, serviceAccountId }) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'serviceAccounts.listClients')
      const { userId, role } = await find(db, workspaceId, serviceAccountId)
      const now = clock.now()
      const rows = await listServiceClients(db, { workspaceId, userId }, now)
      return rows.map(({ createdAt, lastUsedAt, expiresAt, formerSecretUntil, scopes, ...row }) => ({
        ...row,
        scopes: scopesOfRole(role, scopes),
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
        expiresAt: expiresAt.toISOString(),
        formerSecretUntil:
          formerSecretUntil !== null && formerSecretUntil > now ? formerSecretUntil.toISOString() : null,
      }))
    },

    async create(principal, path, input) {
      const name = requireLabel(input.name)
      const { authentication, secret } = authenticate(input)
      const scopes = toAgentScopes(input.scopes)
      assertOnWebsite(principal, scopes)
      return change(
        principal,
        path,
        'serviceAccounts.createClient',
        async ({ tx, now, appendEvent }, { account, workspaceId }) => {
          const { userId, role } = account
          if (scopesOfRole(role, scopes).length < scopes.length)
            throw errors.scopeTooHigh({ field: 'scopes' })
          const expiresAt = new Date(now.getTime() + lifetimeMs)
          await assertWithin(tx, principal, { workspaceId, role, expiresAt, now })
          if ((await countServiceClients(tx, { workspaceId, userId }, now)) >= serviceClientsMax)
            throw errors.serviceClientLimit()
          const id = createId()
          const clientId = `service-${id}`
          const about = { id, clientId, clientName: name, workspaceId, userId, scopes }
          await insertServiceClient(
            tx,
            {
              ...about,
              clientUri: null,
              consentVersion,
              createdAt: now,
              expiresAt,
              shownToUserId: principal.user.id,
            },
            authentication,
          )
          appendEvent({
            type: 'service_account.client_created',
            data: { ...dataOf(account, { id, name }), scopes },
          })
          const client = {
            ...{ id, clientId, name, method: input.method, scopes, lastUsedAt: null },
            jwksUri: 'jwks_uri' in authentication ? authentication.jwks_uri : null,
            createdAt: now.toISOString(),
            expiresAt: expiresAt.toISOString(),
            formerSecretUntil: null,
          }
          return { client, secret }
        },
      )
    },

    async rotate(principal, path, { overlapSeconds = overlapSecondsDefault }) {
      return change(
        principal,
        path,
        'serviceAccounts.rotateClient',
        async ({ tx, now, appendEvent }, { account, workspaceId }) => {
          const client = await lockClient(tx, { workspaceId, ...account }, path.serviceClientId)
          const { expiresAt, formerSecretUntil, name } = client
          if (client.revokedAt || expiresAt <= now) throw errors.notFound()
          if (client.method !== 'client_secret_basic') throw errors.clientWithoutSecret()
          assertOnWebsite(principal, toAgentScopes(client.scopes))
          await assertWithin(tx, principal, { workspaceId, role: account.role, expiresAt, now })
          const isRotated = formerSecretUntil !== null && formerSecretUntil > now
          if (isRotated && overlapSeconds > 0) throw errors.clientRotated()
          const secret = createToken()
          await replaceClientSecret(tx, client, {
            secret,
            shownToUserId: principal.user.id,
            formerUntil: overlapSeconds > 0 ? new Date(now.getTime() + overlapSeconds * 1000) : null,
          })
          appendEvent({ type: 'service_account.client_rotated', data: dataOf(account, client) })
          return { name, clientId: client.clientId, secret }
        },
      )
    },

    async revoke(principal, path) {
      return change(
        principal,
        path,
        'serviceAccounts.revokeClient',
        async ({ tx, now, appendEvent }, { account, workspaceId }) => {
          const client = await lockClient(tx, { workspaceId, ...account }, path.serviceClientId)
          await deleteClientRecord(tx, client.clientId)
          if (client.revokedAt) return client.name
          await revokeGrant(tx, client.id, now)
          appendEvent({ type: 'service_account.client_revoked', data: dataOf(account, client) })
          return client.name
        },
      )
    },

    async prolong(principal, path) {
      return change(
        principal,
        path,
        'serviceAccounts.prolongClient',
        async ({ tx, now, appendEvent }, { account, workspaceId }) => {
          const client = await lockClient(tx, { workspaceId, ...account }, path.serviceClientId)
          if (client.revokedAt || client.expiresAt <= now) throw errors.notFound()
          const expiresAt = new Date(now.getTime() + lifetimeMs)
          if (expiresAt <= client.expiresAt) return client.name
          await prolongGrant(tx, client, { expiresAt, now })
          appendEvent({
            type: 'service_account.client_prolonged',
            data: {
              ...dataOf(account, client),
              expiredAt: client.expiresAt.toISOString(),
              expiresAt: expiresAt.toISOString(),
            },
          })
          return client.name
        },
      )
    },
  }
}

/** Throws `scope_on_website_only`: who holds a key is not always a person who reads what a scope lets a program do. */
function assertOnWebsite({ source }: Principal, scopes: readonly AgentScope[]): void {
  if (unaskedOf(scopes).length > 0 && source !== 'web') throw errors.scopeOnWebsiteOnly()
}

/** Throws `key_restricted` if the key of the request may do less than a client whose secret it would be shown. */
async function assertWithin(
  tx: Executor,
  principal: Principal,
  client: { workspaceId: string; role: Role; expiresAt: Date; now: Date },
): Promise<void> {
  const { workspaceId, role, expiresAt, now } = client
  const own = (await requireLiveCredential(tx, principal, now)) ?? unrestricted
  const restrictions = { ...unrestricted, expiresAt, workspaceIds: [workspaceId], maxRole: role }
  if (!isWithin(restrictions, own)) throw errors.keyRestricted()
}

async function lockClient(tx: Executor, owner: { workspaceId: string; userId: string }, id: string) {
  const client = isId(id) ? await lockServiceClient(tx, owner, id) : undefined
  if (!client) throw errors.notFound()
  return client
}

/** How a new client authenticates, with its secret if it has one. Throws `client_keys_invalid`. */
function authenticate({ method, jwks, jwksUri }: ServiceClientInput): {
  authentication: ClientAuthentication
  secret: string | null
} {
  if (method === 'client_secret_basic') {
    if (jwks !== undefined || jwksUri !== undefined)
      throw errors.clientKeysInvalid({ field: jwks === undefined ? 'jwksUri' : 'jwks' })
    const secret = createToken()
    return { secret, authentication: { token_endpoint_auth_method: method, client_secret: secret } }
  }
  const base = { token_endpoint_auth_method: method }
  if (jwks !== undefined && jwksUri === undefined)
    return { secret: null, authentication: { ...base, jwks: requirePublicKeys(jwks) } }
  if (jwks === undefined && jwksUri !== undefined)
    return { secret: null, authentication: { ...base, jwks_uri: requireKeysUrl(jwksUri) } }
  throw errors.clientKeysInvalid({ field: 'jwks' })
}

function dataOf(
  { id: serviceAccountId, userId, name }: ServiceAccountRow,
  client: { id: string; name: string },
) {
  return { serviceAccountId, userId, name, grantId: client.id, clientName: client.name }
}
