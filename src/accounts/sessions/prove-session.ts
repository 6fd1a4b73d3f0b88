import type { Executor } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../domain/principal.ts'
import { renewSession } from './sessions.repository.ts'

/** Records a proof in the session of the caller, and renews it. Throws `sign_in_required` if the session has ended. */
export async function proveSession(tx: Executor, principal: Principal, at: Date): Promise<void> {
  await renewSessionOf(tx, principal, { at, isProven: true })
}

/**
 * Renews the session of the caller where trust rises, or where a person shuts others out (ASVS 5.0 V7.2.4): whoever has
 * copied its cookies does not share in it. Throws `sign_in_required` if the session has ended.
 */
export async function renewSessionOf(
  tx: Executor,
  { user, sessionId }: Principal,
  { at, isProven = false }: { at: Date; isProven?: boolean },
): Promise<void> {
  if (sessionId === null || !(await renewSession(tx, { id: sessionId, userId: user.id, at, isProven })))
    throw errors.signInRequired()
}
