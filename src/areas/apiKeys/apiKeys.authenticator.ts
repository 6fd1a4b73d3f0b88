import { createBatch } from '../../db/batch.ts'
import type { Database } from '../../db/client.ts'
import { createUseRecorder } from '../../db/use-recorder.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Principal } from '../../kernel/principal.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import { findApiKeyOwners, recordApiKeyUses, type ApiKeyOwner } from './apiKeys.repository.ts'

export interface ApiKeyAuthenticator {
  /** The owner of an active key, read from the database. Undefined for an unknown or revoked key. */
  authenticate: (apiKey: string) => Promise<Principal | undefined>
  /** Writes the pending uses and stops. */
  close: () => Promise<void>
}

export interface ApiKeyAuthenticatorOptions {
  db: Database
  clock: Clock
  /** Called when writing the uses of keys failed. They are retried. */
  onRecordError: (error: unknown) => void
}

/**
 * Authenticates API keys. Requests that arrive in one turn of the event loop share one round trip. Nothing is cached
 * between turns: a revoked key is refused from the next request on.
 */
export function createApiKeyAuthenticator(options: ApiKeyAuthenticatorOptions): ApiKeyAuthenticator {
  const { db, clock, onRecordError } = options
  const uses = createUseRecorder({ write: (batch) => recordApiKeyUses(db, batch), onRecordError })
  const findOwner = createBatch((hashes: readonly Buffer[]) => findOwners(db, hashes))
  return {
    async authenticate(apiKey) {
      const owner = await findOwner(hashSecret(apiKey))
      if (!owner) return undefined
      uses.record(owner.apiKeyId, clock.now())
      return { user: owner.user, source: 'api', apiKeyId: owner.apiKeyId, sessionId: null, grantId: null }
    },
    close: () => uses.close(),
  }
}

async function findOwners(db: Database, hashes: readonly Buffer[]): Promise<(ApiKeyOwner | undefined)[]> {
  const found = await findApiKeyOwners(db, hashes)
  if (hashes.length === 1) return [found[0]]
  const byHash = new Map(found.map((owner) => [owner.secretHash.toString('latin1'), owner]))
  return hashes.map((hash) => byHash.get(hash.toString('latin1')))
}
