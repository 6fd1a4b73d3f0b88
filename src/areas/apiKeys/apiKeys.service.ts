import type { Changes } from '../../access/change.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import { lockUser } from '../../accounts/users/users.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import type { Principal } from '../../kernel/principal.ts'
import { requireLabel } from '../../kernel/text.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { createApiKeySecret, hashSecret } from '../../kernel/tokens.ts'
import {
  countActiveApiKeys,
  insertApiKey,
  listActiveApiKeys,
  revokeApiKey,
  revokeApiKeyOfUser,
} from './apiKeys.repository.ts'
import type { ApiKey, CreatedApiKey } from './apiKeys.schemas.ts'

/** The most active keys that one user may have. */
export const activeApiKeysMax = 100

// One mail for all keys created within this time, so that creating many does not flood the owner's mailbox.
const noticeDelaySeconds = 30

export type { ApiKey, CreatedApiKey }

export interface RevokedApiKey {
  name: string
  /** The email address of the owner. */
  email: string
  /** False when it had been revoked before. */
  wasActive: boolean
}

export interface ApiKeysService {
  /** The caller's active keys, newest first. */
  list(principal: Principal): Promise<ApiKey[]>
  /** Throws `label_invalid` and `api_key_limit`. */
  create(principal: Principal, input: { name: string }): Promise<CreatedApiKey>
  /** Idempotent. Returns the name of the key. Throws `not_found` for a key that is not the caller's. */
  revoke(principal: Principal, apiKeyId: string): Promise<string>
  /** Revokes a key of any user, for operators. Throws `not_found`. */
  revokeAny(apiKeyId: string): Promise<RevokedApiKey>
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
  return {
    async list({ user }) {
      const rows = await listActiveApiKeys(db, user.id)
      return rows.map(toApiKey)
    },

    async create(principal, input) {
      const { user } = principal
      const { secret, ...shown } = createApiKeySecret(apiKeyPrefix)
      const key = { id: createId(), name: requireLabel(input.name), ...shown }
      return changes.make(principal, async ({ tx, now }) => {
        await lockUser(tx, user.id)
        await requireLiveCredential(tx, principal, clock.now())
        if ((await countActiveApiKeys(tx, user.id)) >= activeApiKeysMax) throw errors.apiKeyLimit()
        await insertApiKey(tx, {
          ...key,
          userId: user.id,
          secretHash: hashSecret(secret),
          createdAt: now,
        })
        // Operators inform people themselves.
        if (principal.source !== 'system') {
          const notice = { key: `api-keys-created:${user.id}`, delaySeconds: noticeDelaySeconds }
          await jobs.enqueue(tx, 'send_api_keys_created', { userId: user.id }, notice)
        }
        return { ...key, secret }
      })
    },

    async revoke(principal, apiKeyId) {
      if (!isId(apiKeyId)) throw errors.notFound()
      const key = { id: apiKeyId, userId: principal.user.id }
      const revoke = async (executor: Executor, now: Date) => {
        const name = await revokeApiKeyOfUser(executor, { ...key, revokedAt: now })
        if (name === undefined) throw errors.notFound()
        return name
      }
      return changes.makeAtOnce(principal, revoke)
    },

    async revokeAny(apiKeyId) {
      const revokedAt = clock.now()
      const key = isId(apiKeyId) ? await revokeApiKey(db, { id: apiKeyId, revokedAt }) : undefined
      if (!key) throw errors.notFound()
      const { name, email } = key
      return { name, email, wasActive: key.revokedAt?.getTime() === revokedAt.getTime() }
    },
  }
}

function toApiKey(row: Awaited<ReturnType<typeof listActiveApiKeys>>[number]): ApiKey {
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  }
}
