import { timesOf } from '../../access/workspace-access.ts'
import { createBatch } from '../../db/sql/batch.ts'
import type { Database } from '../../db/client.ts'
import { createUseRecorder } from '../../concurrency/use-recorder.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { isRestricted } from '../../domain/key-restrictions.ts'
import type { Call, Principal, TargetResource } from '../../domain/principal.ts'
import { isSlug } from '../../domain/slugs.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import {
  findApiKeyOwners,
  findOwnersBySeed,
  findOwnersBySlug,
  recordApiKeyUses,
  type KeyAndSubject,
} from './key-owners.repository.ts'

export interface ApiKeyAuthenticator {
  /**
   * The owner of an active key, read from the database; with a target, together with the workspace that it is about.
   * Undefined for an unknown, revoked or expired key, and while its owner is suspended.
   */
  authenticate: (apiKey: string, target?: TargetResource) => Promise<Call | undefined>
  /** Writes the pending uses and stops. */
  close: () => Promise<void>
}

export interface ApiKeyAuthenticatorOptions {
  db: Database
  /** The share of the connections for what reads seeds. */
  seedsDb: Database
  clock: Clock
  /** Called when writing the uses of keys failed. They are retried. */
  onRecordError: (error: unknown) => void
}

/**
 * Authenticates API keys. Requests that arrive in one turn of the event loop share one round trip. Nothing is cached
 * between turns: a revoked key is refused from the next request on, and one that is restricted may do less.
 */
export function createApiKeyAuthenticator(options: ApiKeyAuthenticatorOptions): ApiKeyAuthenticator {
  const { db, seedsDb, clock, onRecordError } = options
  const uses = createUseRecorder({
    write: (batch, retry) => recordApiKeyUses(db, batch, retry),
    onRecordError,
  })
  const findOwner = createBatch((hashes: readonly string[]) => findApiKeyOwners(db, hashes), String)
  const findBySlug = createBatch(
    (questions: readonly KeyAndSubject[]) => findOwnersBySlug(db, questions, timesOf(clock)),
    nameOf,
  )
  const findBySeed = createBatch(
    (questions: readonly KeyAndSubject[]) => findOwnersBySeed(seedsDb, questions, timesOf(clock)),
    nameOf,
  )

  async function find(secretHash: string, target: TargetResource | undefined) {
    // Malformed slugs and ids name nothing, and some of them PostgreSQL could not compare.
    if (target && 'slug' in target && isSlug(target.slug)) return findBySlug({ secretHash, key: target.slug })
    if (target && 'seedId' in target && isId(target.seedId))
      return findBySeed({ secretHash, key: target.seedId })
    const owner = await findOwner(secretHash)
    return owner && { owner, workspace: undefined }
  }

  return {
    async authenticate(apiKey, target) {
      const found = await find(hashSecret(apiKey).toString('hex'), target)
      if (!found) return undefined
      const { user, apiKeyId, isService, ...restrictions } = found.owner
      const { expiresAt } = restrictions
      const now = clock.now()
      if (expiresAt !== null && expiresAt <= now) return undefined
      uses.record(apiKeyId, now)
      const principal: Principal = {
        user,
        source: 'api',
        apiKeyId,
        sessionId: null,
        grantId: null,
        ...(isService && { isService }),
        ...(isRestricted(restrictions) && { restrictions }),
      }
      return target ? { ...principal, read: { target, workspace: found.workspace } } : principal
    },
    close: () => uses.close(),
  }
}

function nameOf({ secretHash, key }: KeyAndSubject): string {
  return secretHash + key
}
