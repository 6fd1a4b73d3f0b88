import { and, eq, gt, isNull } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { sessions } from '../db/schema/accounts.ts'
import { apiKeys } from '../db/schema/api-keys.ts'
import { errors } from '../kernel/errors.ts'
import type { Principal } from '../kernel/principal.ts'

/**
 * Asks again, in the transaction that makes a new credential, whether the one that it is made with still holds, and
 * keeps it until the end: whoever revokes a key or ends a session has then also seen everything that came of it.
 * Throws `api_key_required` and `sign_in_required`.
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
