import type { Executor } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import { recordProof } from './sessions.repository.ts'

/** Records a proof in the session of the caller. Throws `sign_in_required` if the session has ended. */
export async function proveSession(tx: Executor, { user, sessionId }: Principal, at: Date): Promise<void> {
  if (sessionId === null || !(await recordProof(tx, { id: sessionId, userId: user.id, at })))
    throw errors.signInRequired()
}
