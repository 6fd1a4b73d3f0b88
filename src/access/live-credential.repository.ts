import { and, eq, gt, isNull } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { sessions } from '../db/schema/accounts.ts'
import { apiKeys } from '../db/schema/api-keys.ts'
import { errors } from '../kernel/errors.ts'
import type { Principal } from '../kernel/principal.ts'

/**
 * Checks again, in the transaction that creates a credential, that the credential of the request is still valid, and locks
 * it: after a key is revoked or a session ended, nothing new can be created with it. Throws `api_key_required` and
 * `sign_in_required`.
 */
export async function requireLiveCredential(tx: Executor, principal: Principal, now: Date): Promise<void> {
  const { apiKeyId, sessionId } = principal
  if (apiKeyId !== null) {
    const isActive = and(eq(apiKeys.id, apiKeyId), isNull(apiKeys.revokedAt))
    const [key] = await tx.select({ id: apiKeys.id }).from(apiKeys).where(isActive).for('share')
    if (!key) throw errors.apiKeyRequired()
  }
  if (sessionId !== null) {
    const isLive = and(eq(sessions.id, sessionId), gt(sessions.expiresAt, now))
    const [session] = await tx.select({ id: sessions.id }).from(sessions).where(isLive).for('share')
    if (!session) throw errors.signInRequired()
  }
}
