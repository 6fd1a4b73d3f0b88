import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { EntryRules } from '../../domain/accounts.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../domain/principal.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { PasswordHasher } from '../../platform/passwords/passwords.port.ts'
import { lockUser } from '../../users/users.repository.ts'
import { findPasswordHash } from './credentials.repository.ts'
import { proveSession } from '../sessions/prove-session.ts'
import { hasSecondFactor } from '../second-factor/second-factor.repository.ts'
import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import { useCode } from '../second-factor/use-code.ts'

/**
 * The proof of a signed-in person that it is still them, before they change how they sign in. The session keeps the time
 * of it. All throw `sign_in_required` if the session has ended meanwhile.
 */
export interface ProofsService {
  /** Throws `passwords_disabled`, `password_wrong`, and `two_step_changed` if two-step sign-in is on: then a password is no proof. */
  provePassword(principal: Principal, password: string): Promise<void>
  /** Takes a code of the authenticator app, or a recovery code. Throws `code_wrong`. */
  proveCode(principal: Principal, code: string): Promise<void>
}

export interface ProofsServiceOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
  passwords: PasswordHasher
  secretBox: SecretBox
  entry: EntryRules
}

export function createProofsService(options: ProofsServiceOptions): ProofsService {
  const { db, clock, passwords, entry } = options
  return {
    async provePassword(principal, password) {
      if (!entry.hasPasswords) throw errors.passwordsDisabled()
      const hash = await findPasswordHash(db, principal.user.id)
      if (!(await passwords.verify(hash, password))) throw errors.passwordWrong({ field: 'password' })
      await db.transaction(async (tx) => {
        await lockUser(tx, principal.user.id)
        // The password was changed while it was checked.
        if ((await findPasswordHash(tx, principal.user.id)) !== hash)
          throw errors.passwordWrong({ field: 'password' })
        if (await hasSecondFactor(tx, principal.user.id)) throw errors.twoStepChanged()
        await proveSession(tx, principal, clock.now())
      })
    },

    proveCode: (principal, code) =>
      db.transaction(async (tx) => {
        const now = clock.now()
        const { requestId } = principal
        const userId = principal.user.id
        await lockUser(tx, userId)
        if (!(await useCode(tx, { userId, code, now, requestId }, options)))
          throw errors.codeWrong({ field: 'code' })
        await proveSession(tx, principal, now)
      }),
  }
}
