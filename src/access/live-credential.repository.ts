import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { prepared } from '../db/sql/prepared.ts'
import { sessions } from '../db/schema/accounts.ts'
import { agentGrants } from '../db/schema/agent-grants.ts'
import { apiKeys } from '../db/schema/api-keys.ts'
import { isActivePerson } from '../db/schema/users.ts'
import { together } from '../db/together.ts'
import { errors } from '../kernel/errors.ts'
import type { KeyRestrictions } from '../domain/key-restrictions.ts'
import type { Principal } from '../domain/principal.ts'

const lockActiveKey = prepared((executor) =>
  executor
    .select({
      expiresAt: apiKeys.expiresAt,
      access: apiKeys.access,
      workspaceIds: apiKeys.workspaceIds,
      maxRole: apiKeys.maxRole,
    })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.id, sql.placeholder('id')),
        isNull(apiKeys.revokedAt),
        isActivePerson(apiKeys.userId),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql.placeholder('now'))),
      ),
    )
    .for('share')
    .prepare('api_keys_lock_active'),
)

const lockLiveSession = prepared((executor) =>
  executor
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      and(
        eq(sessions.id, sql.placeholder('id')),
        gt(sessions.expiresAt, sql.placeholder('now')),
        isActivePerson(sessions.userId),
      ),
    )
    .for('share')
    .prepare('sessions_lock_live'),
)

const lockLiveGrant = prepared((executor) =>
  executor
    .select({ id: agentGrants.id })
    .from(agentGrants)
    .where(
      and(
        eq(agentGrants.id, sql.placeholder('id')),
        isNull(agentGrants.revokedAt),
        isActivePerson(agentGrants.userId),
        gt(agentGrants.expiresAt, sql.placeholder('now')),
      ),
    )
    .for('share')
    .prepare('agent_grants_lock_live'),
)

/**
 * Checks again, in the transaction that creates a credential, that the credential of the request is still valid, and locks
 * it: after a key or a grant is revoked, a session ended or the person suspended, nothing new can be created with it. Returns the restrictions that the key
 * has now, which may be others than at the start of the request; undefined without a key. Throws `api_key_required`,
 * `key_read_only`, `sign_in_required` and `agent_token_required`.
 */
export async function requireLiveCredential(
  tx: Executor,
  principal: Principal,
  now: Date,
): Promise<KeyRestrictions | undefined> {
  const { apiKeyId, sessionId, grantId } = principal
  const [keys, liveSessions, liveGrants] = await together([
    apiKeyId === null ? undefined : lockActiveKey(tx).execute({ id: apiKeyId, now: now.toISOString() }),
    sessionId === null ? undefined : lockLiveSession(tx).execute({ id: sessionId, now: now.toISOString() }),
    grantId === null ? undefined : lockLiveGrant(tx).execute({ id: grantId, now: now.toISOString() }),
  ])
  if (keys?.length === 0) throw errors.apiKeyRequired()
  if (liveSessions?.length === 0) throw errors.signInRequired()
  if (liveGrants?.length === 0) throw errors.agentTokenRequired()
  const restrictions = keys?.[0]
  if (restrictions?.access === 'read') throw errors.keyReadOnly()
  return restrictions
}
