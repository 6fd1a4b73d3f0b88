import { lockUser } from '../../users/users.repository.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import {
  deletePendingSignIn,
  findPendingSignIn,
  takeAttempt,
  type PendingSignInKey,
} from '../second-factor/second-factor.repository.ts'
import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import { startSession, type Browser, type StartedSession } from './start-session.ts'
import { useCode } from '../second-factor/use-code.ts'

/** A person who has passed the first step of a sign-in. */
export interface PendingSignIn {
  userId: string
  email: string
  hasPasskey: boolean
}

/** The second step of a sign-in, which begins after the password, the link or the identity provider was right. */
export interface SecondStepService {
  /** The person of a pending sign-in; undefined if it has ended, or began in another browser. */
  find(pendingToken: string, browser: Browser): Promise<PendingSignIn | undefined>
  /**
   * Finishes a sign-in with a code of the authenticator app or a recovery code; returns the token of the new session.
   * Throws `code_wrong`, and `second_step_expired` if the sign-in has ended, as it does after `attemptsMax` attempts.
   */
  finishWithCode(pendingToken: string, code: string, browser: Browser): Promise<StartedSession>
}

export interface SecondStepServiceOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
  secretBox: SecretBox
}

const attemptsMax = 5

export function createSecondStepService(options: SecondStepServiceOptions): SecondStepService {
  const { db, clock, jobs } = options
  return {
    find: (pendingToken, browser) => findPendingSignIn(db, keyOf(pendingToken, browser), clock.now()),

    async finishWithCode(pendingToken, code, browser) {
      const key = keyOf(pendingToken, browser)
      const { requestId } = browser
      const now = clock.now()
      const attempt = await takeAttempt(db, key, { now, attemptsMax })
      if (!attempt) throw errors.secondStepExpired()
      const { userId, attempts } = attempt
      const session = await db.transaction(async (tx) => {
        const user = await lockUser(tx, userId)
        if (!user || !(await useCode(tx, { userId, code, now, requestId }, options))) return undefined
        if (!(await deletePendingSignIn(tx, key.tokenHash))) throw errors.secondStepExpired()
        return startSession(tx, { user, browser, now, jobs })
      })
      if (session !== undefined) return session
      if (attempts < attemptsMax) throw errors.codeWrong({ field: 'code' })
      const notice = { userId, notice: 'second_step_failed' } as const
      await db.transaction(async (tx) => {
        if (await deletePendingSignIn(tx, key.tokenHash))
          await jobs.enqueue(tx, 'send_security_notice', notice, { requestId })
      })
      throw errors.secondStepExpired()
    },
  }
}

const keyOf = (pendingToken: string, { browserToken }: Browser): PendingSignInKey => ({
  tokenHash: hashSecret(pendingToken),
  browserHash: hashSecret(browserToken),
})
