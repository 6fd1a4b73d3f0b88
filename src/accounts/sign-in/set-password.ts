import { insertEvent } from '../../access/event-log.repository.ts'
import type { Executor } from '../../db/client.ts'
import { isAcceptablePassword, type AccessCounts } from '../../domain/accounts.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal, PrincipalUser } from '../../domain/principal.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { PasswordHasher } from '../../platform/passwords/passwords.port.ts'
import { revokeAllAccess, type RevokedGrant } from './access-of-person.repository.ts'
import { forbidLeaving } from '../../users/leavers.repository.ts'
import { deleteAccountTokens, deletePassword, upsertPassword } from './credentials.repository.ts'
import { deletePendingSignInsOfUser } from '../second-factor/second-factor.repository.ts'
import { deleteSessionsOfUser } from '../sessions/sessions.repository.ts'

/** Hashes a password that a person chooses. Throws `password_unacceptable` and `password_common`. */
export async function hashNewPassword(
  passwords: PasswordHasher,
  password: string,
  person: { name: string; email: string },
): Promise<string> {
  const field = 'password'
  if (!isAcceptablePassword(password, person)) throw errors.passwordUnacceptable({ field })
  if (await passwords.isCommon(password)) throw errors.passwordCommon({ field })
  return passwords.hash(password)
}

/**
 * Sets a password, or deletes it if `hash` is null, ends all sessions except one, invalidates all links, ends what allows API keys to
 * export or delete the account, and tells the person by mail. With
 * `revokeAccess`, also revokes whatever else gives access to the account, with an event for each grant.
 */
export async function setPassword(
  tx: Executor,
  user: PrincipalUser,
  change: { hash: string | null; exceptSessionId?: string | undefined; revokeAccess?: boolean | undefined },
  { now, jobs, requestId }: { now: Date; jobs: JobQueue; requestId: string | undefined },
): Promise<void> {
  const { hash, exceptSessionId, revokeAccess: isAccessRevoked = false } = change
  if (hash === null) await deletePassword(tx, user.id)
  else await upsertPassword(tx, { userId: user.id, hash, changedAt: now })
  await deleteSessionsOfUser(tx, user.id, exceptSessionId)
  await deletePendingSignInsOfUser(tx, user.id)
  await deleteAccountTokens(tx, user.id)
  // Somebody else may have given it.
  await forbidLeaving(tx, user.id)
  const revoked = isAccessRevoked && { revoked: await revokeAccess(tx, user, now) }
  if (hash !== null) {
    await jobs.enqueue(tx, 'send_password_changed', { userId: user.id, ...revoked }, { requestId })
  }
}

async function revokeAccess(tx: Executor, user: PrincipalUser, now: Date): Promise<AccessCounts> {
  const principal: Principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
  const { counts, grants } = await revokeAllAccess(tx, user.id, now)
  await appendRevocations(tx, principal, { grants, now })
  return counts
}

/** Appends the events of revoked grants of the caller. */
export async function appendRevocations(
  tx: Executor,
  principal: Principal,
  { grants, now }: { grants: readonly RevokedGrant[]; now: Date },
): Promise<void> {
  for (const { id, workspaceId, clientName } of grants) {
    const data = { grantId: id, clientName, userId: principal.user.id, reason: 'revoked' } as const
    await insertEvent(tx, principal, { workspaceId, type: 'integration.revoked', data, at: now })
  }
}
