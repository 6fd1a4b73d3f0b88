import { timesOf } from '../../access/workspace-access.ts'
import { createBatch } from '../../db/sql/batch.ts'
import type { Database } from '../../db/client.ts'
import { createUseRecorder } from '../../concurrency/use-recorder.ts'
import type { Clock } from '../../kernel/clock.ts'
import { isId } from '../../kernel/ids.ts'
import { isRestricted } from '../../domain/key-restrictions.ts'
import type { Call, Principal, Subject } from '../../domain/principal.ts'
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
   * The owner of an active key, read from the database; with a subject, together with the workspace that it is about.
   * Undefined for an unknown, revoked or expired key.
   */
  authenticate: (apiKey: string, subject?: Subject) => Promise<Call | undefined>
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
  const uses = createUseRecorder({ write: (batch) => recordApiKeyUses(db, batch), onRecordError })
  const findOwner = createBatch((hashes: readonly string[]) => findApiKeyOwners(db, hashes), String)
  const findBySlug = createBatch(
    (questions: readonly KeyAndSubject[]) => findOwnersBySlug(db, questions, timesOf(clock)),
    nameOf,
  )
  const findBySeed = createBatch(
    (questions: readonly KeyAndSubject[]) => findOwnersBySeed(seedsDb, questions, timesOf(clock)),
    nameOf,
  )

  async function find(secretHash: string, subject: Subject | undefined) {
    // Malformed slugs and ids name nothing, and some of them PostgreSQL could not compare.
    if (subject && 'slug' in subject && isSlug(subject.slug))
      return findBySlug({ secretHash, key: subject.slug })
    if (subject && 'seedId' in subject && isId(subject.seedId))
      return findBySeed({ secretHash, key: subject.seedId })
    const owner = await findOwner(secretHash)
    return owner && { owner, workspace: undefined }
  }

  return {
    async authenticate(apiKey, subject) {
      const found = await find(hashSecret(apiKey).toString('hex'), subject)
      if (!found) return undefined
      const { user, apiKeyId, expiresAt, access, workspaceIds } = found.owner
      const now = clock.now()
      if (expiresAt !== null && expiresAt <= now) return undefined
      uses.record(apiKeyId, now)
      const restrictions = { expiresAt, access, workspaceIds }
      const principal: Principal = {
        user,
        source: 'api',
        apiKeyId,
        sessionId: null,
        grantId: null,
        ...(isRestricted(restrictions) && { restrictions }),
      }
      return subject ? { ...principal, read: { subject, workspace: found.workspace } } : principal
    },
    close: () => uses.close(),
  }
}

function nameOf({ secretHash, key }: KeyAndSubject): string {
  return secretHash + key
}
