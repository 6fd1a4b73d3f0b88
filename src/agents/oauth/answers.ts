import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { AppSecret } from '../../platform/secrets/app-secret.port.ts'
import { findAnswer, isCodeUsable, storeFirstAnswer } from './records/authorization-decisions.repository.ts'
import { codeLifetimeSeconds } from './protocol.ts'

/**
 * The redirects to clients that answer authorization requests. Each request has one answer, however often and however
 * many times at once the browser asks: people click twice.
 */
export interface Answers {
  /** Stores an answer, unless the request has one. Returns that of the request. */
  settle(uid: string, answer: string): Promise<string>
  /** The answer to a request; undefined if there is none yet. */
  find(uid: string): Promise<string | undefined>
  /** Whether the client has used the code of an answer, or it has expired. A second use would revoke the grant. */
  isUsed(answer: string): Promise<boolean>
}

/** Keeps answers for as long as their codes last. They are stored encrypted, since they contain the codes. */
export function createAnswers({
  db,
  clock,
  appSecret,
}: {
  db: Database
  clock: Clock
  appSecret: AppSecret
}): Answers {
  const box = appSecret.boxOf('answers to authorization requests')
  function open(sealed: string): string {
    const answer = box.open(Buffer.from(sealed, 'base64url'))
    if (answer === undefined) throw new Error('cannot decrypt the answer to an authorization request')
    return answer
  }
  return {
    async settle(uid, answer) {
      const expiresAt = new Date(clock.now().getTime() + codeLifetimeSeconds * 1000)
      const sealed = box.seal(answer).toString('base64url')
      const stored = await storeFirstAnswer(db, uid, { answer: sealed, expiresAt })
      return stored === undefined ? answer : open(stored)
    },

    async find(uid) {
      const stored = await findAnswer(db, uid, clock.now())
      return stored === undefined ? undefined : open(stored)
    },

    async isUsed(answer) {
      const code = new URL(answer).searchParams.get('code')
      return code !== null && !(await isCodeUsable(db, code))
    },
  }
}
