import type { Changes } from '../../access/change.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import { lockUser } from '../../users/users.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { isRestricted, isWithin, unrestricted, type KeyRestrictions } from '../../domain/key-restrictions.ts'
import type { Principal } from '../../domain/principal.ts'
import { requireLabel } from '../../kernel/text.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import {
  findActiveApiKey,
  findReplacedApiKey,
  listActiveApiKeys,
  listJoinedWorkspaces,
  revokeApiKey,
  revokeApiKeyOfUser,
  revokeApiKeysOfUser,
  updateRestrictions,
  type ApiKeyRow,
} from './apiKeys.repository.ts'
import type { ApiKey, CreatedApiKey } from './apiKeys.schemas.ts'
import {
  endForRotation,
  issueApiKey,
  parseRestrictions,
  toApiKey,
  toColumns,
  toRestrictedApiKey,
  type RestrictedApiKey,
  type RestrictionsInput,
} from './issued-keys.ts'

// One mail for all keys created within this time, so that creating many does not flood the owner's mailbox.
const noticeDelaySeconds = 30

export type { ApiKey, CreatedApiKey, RestrictedApiKey, RestrictionsInput }

export interface RevokedOwnKey {
  name: string
  /** The rotated key that works on. */
  replacedId: string | undefined
}

export interface RevokedApiKey {
  name: string
  /** The email address of the owner. */
  email: string
  /** False when it had been revoked before. */
  wasActive: boolean
}

/**
 * API keys. A restricted key can create only keys that may do no more than it may, and change only itself, never to do
 * more; one that is bound to workspaces does not see others either (docs/design/credentials.md#restrictions):
 * `key_restricted`.
 */
export interface ApiKeysService {
  /** The caller's active keys, newest first. To a key that is bound to workspaces, only itself. */
  list(principal: Principal): Promise<ApiKey[]>
  /** As `list`, with the restrictions of each. */
  listRestricted(principal: Principal): Promise<RestrictedApiKey[]>
  /** An active key of the caller. Throws `not_found` and `key_restricted`. */
  get(principal: Principal, apiKeyId: string): Promise<RestrictedApiKey>
  /** Creates a key without restrictions. Throws `label_invalid`, `api_key_limit` and `key_restricted`. */
  create(principal: Principal, input: { name: string }): Promise<CreatedApiKey>
  /**
   * Creates a key with restrictions. Throws `label_invalid`, `api_key_limit`, `expiry_in_past`, `workspace_not_yours` and
   * `key_restricted`.
   */
  createRestricted(principal: Principal, input: { name: string } & RestrictionsInput): Promise<CreatedApiKey>
  /**
   * Replaces the restrictions of a key; from the next request on. Returns its name. Throws `not_found`, `expiry_in_past`,
   * `workspace_not_yours` and `key_restricted`.
   */
  restrict(principal: Principal, apiKeyId: string, input: RestrictionsInput): Promise<string>
  /**
   * Creates a key with the name and the restrictions of another one, which works on for `overlapSeconds`, but not beyond its
   * own expiry. Throws `not_found`, `key_rotated`, `api_key_limit` and `key_restricted`.
   */
  rotate(principal: Principal, apiKeyId: string, input: { overlapSeconds?: number }): Promise<CreatedApiKey>
  /**
   * Idempotent. The owner is told by mail if a rotated key works on that this one took the place of. Throws `not_found` for
   * a key that is not the caller's, and `key_restricted`.
   */
  revoke(principal: Principal, apiKeyId: string): Promise<RevokedOwnKey>
  /** Revokes a key of any user, for operators. Throws `not_found`. */
  revokeAny(apiKeyId: string): Promise<RevokedApiKey>
  /** Revokes all keys of a person, for operators. Returns how many were active. */
  revokeAllOf(userId: string): Promise<number>
}

export interface ApiKeysServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  jobs: JobQueue
  /** The prefix of new keys. */
  apiKeyPrefix: string
}

export function createApiKeysService(options: ApiKeysServiceOptions): ApiKeysService {
  const { db, clock, changes, jobs, apiKeyPrefix } = options

  async function listRestricted({ user, apiKeyId, restrictions }: Principal): Promise<RestrictedApiKey[]> {
    const rows = await listActiveApiKeys(db, { userId: user.id, now: clock.now() })
    const isBound = (restrictions?.workspaceIds ?? null) !== null
    return rows.filter(({ id }) => !isBound || id === apiKeyId).map(toRestrictedApiKey)
  }

  /** Inserts a key in a transaction that has locked the owner, who is told. Throws `api_key_limit`. */
  async function insert(
    tx: Executor,
    { source, user, requestId }: Principal,
    input: { name: string; restrictions: KeyRestrictions; now: Date },
  ): Promise<CreatedApiKey> {
    const key = await issueApiKey(tx, { ...input, userId: user.id, prefix: apiKeyPrefix })
    // Operators inform people themselves.
    if (source !== 'system') {
      const notice = { requestId, key: `api-keys-created:${user.id}`, delaySeconds: noticeDelaySeconds }
      await jobs.enqueue(tx, 'send_api_keys_created', { userId: user.id }, notice)
    }
    return key
  }

  /** Throws `workspace_not_yours` unless the caller is a member of all workspaces but those that a key has already. */
  async function assertMember(
    tx: Executor,
    { user }: Principal,
    workspaceIds: readonly string[] | null,
    known: readonly string[] = [],
  ): Promise<void> {
    const added = workspaceIds?.filter((id) => !known.includes(id)) ?? []
    if (added.length === 0) return
    const joined = added.every(isId)
      ? await listJoinedWorkspaces(tx, { userId: user.id, workspaceIds: added })
      : []
    if (joined.length < added.length) throw errors.workspaceNotYours({ field: 'workspaceIds' })
  }

  /** Locks the keys of the caller. Returns what their credential may do now. */
  async function lockKeys(tx: Executor, principal: Principal): Promise<KeyRestrictions> {
    await lockUser(tx, principal.user.id)
    return (await requireLiveCredential(tx, principal, clock.now())) ?? unrestricted
  }

  /** As `lockKeys`, for a change of a key that the caller may manage. */
  async function lockKey(tx: Executor, principal: Principal, apiKeyId: string) {
    const own = await lockKeys(tx, principal)
    if (isRestricted(own)) assertItself(principal, apiKeyId)
    return { own, key: await requireKey(tx, principal, apiKeyId) }
  }

  async function requireKey(executor: Executor, { user }: Principal, apiKeyId: string): Promise<ApiKeyRow> {
    const input = { id: apiKeyId, userId: user.id, now: clock.now() }
    const key = isId(apiKeyId) ? await findActiveApiKey(executor, input) : undefined
    if (!key) throw errors.notFound()
    return key
  }

  async function create(
    principal: Principal,
    input: { name: string },
    restrictions: KeyRestrictions,
  ): Promise<CreatedApiKey> {
    const name = requireLabel(input.name)
    return changes.make(principal, async ({ tx, now }) => {
      const own = await lockKeys(tx, principal)
      if (!isWithin(restrictions, own)) throw errors.keyRestricted()
      await assertMember(tx, principal, restrictions.workspaceIds)
      return insert(tx, principal, { name, restrictions, now })
    })
  }

  return {
    listRestricted,

    list: async (principal) => (await listRestricted(principal)).map(toApiKey),

    async get(principal, apiKeyId) {
      if ((principal.restrictions?.workspaceIds ?? null) !== null) assertItself(principal, apiKeyId)
      return toRestrictedApiKey(await requireKey(db, principal, apiKeyId))
    },

    create: (principal, input) => create(principal, input, unrestricted),

    async createRestricted(principal, input) {
      return create(principal, input, parseRestrictions(input, clock.now()))
    },

    async restrict(principal, apiKeyId, input) {
      assertMayManage(principal, apiKeyId)
      const given = parseRestrictions(input, clock.now())
      return changes.make(principal, async ({ tx, now }) => {
        const { own, key } = await lockKey(tx, principal, apiKeyId)
        const restrictions = { ...given, maxRole: input.maxRole === undefined ? key.maxRole : given.maxRole }
        if (!isWithin(restrictions, own)) throw errors.keyRestricted()
        const { id, name, expiresAt, workspaceIds } = key
        await assertMember(tx, principal, restrictions.workspaceIds, workspaceIds ?? [])
        const { expiryNoticeAt, ...columns } = toColumns(restrictions, now)
        const isSameExpiry = columns.expiresAt?.getTime() === expiresAt?.getTime()
        // The owner is told once of each expiry.
        await updateRestrictions(tx, id, { ...columns, ...(!isSameExpiry && { expiryNoticeAt }) })
        return name
      })
    },

    async rotate(principal, apiKeyId, { overlapSeconds }) {
      assertMayManage(principal, apiKeyId)
      return changes.make(principal, async ({ tx, now }) => {
        const { key } = await lockKey(tx, principal, apiKeyId)
        await endForRotation(tx, key, { overlapSeconds, now })
        return insert(tx, principal, { name: key.name, restrictions: key, now })
      })
    },

    async revoke(principal, apiKeyId) {
      assertMayManage(principal, apiKeyId)
      if (!isId(apiKeyId)) throw errors.notFound()
      const key = { id: apiKeyId, userId: principal.user.id }
      const replacedId = await findReplacedApiKey(db, { ...key, now: clock.now() })
      const revoke = async (executor: Executor, now: Date) => {
        const name = await revokeApiKeyOfUser(executor, { ...key, revokedAt: now })
        if (name === undefined) throw errors.notFound()
        return { name, replacedId }
      }
      if (replacedId === undefined) return changes.makeAtOnce(principal, revoke)
      return changes.make(principal, async ({ tx, now }) => {
        const { requestId } = principal
        await jobs.enqueue(tx, 'send_rotated_key_works', { apiKeyId: replacedId }, { requestId })
        return revoke(tx, now)
      })
    },

    revokeAllOf: (userId) => revokeApiKeysOfUser(db, { userId, revokedAt: clock.now() }),

    async revokeAny(apiKeyId) {
      const revokedAt = clock.now()
      const key = isId(apiKeyId) ? await revokeApiKey(db, { id: apiKeyId, revokedAt }) : undefined
      if (!key) throw errors.notFound()
      const { name, email } = key
      return { name, email, wasActive: key.revokedAt?.getTime() === revokedAt.getTime() }
    },
  }
}

/** Throws `key_restricted` for a restricted key that would change another one. Before the look-up: it learns nothing. */
function assertMayManage(principal: Principal, apiKeyId: string): void {
  if (principal.restrictions) assertItself(principal, apiKeyId)
}

function assertItself(principal: Principal, apiKeyId: string): void {
  if (principal.apiKeyId !== apiKeyId) throw errors.keyRestricted()
}
