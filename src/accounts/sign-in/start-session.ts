import type { Executor } from '../../db/client.ts'
import { sessionLifetimeMs, sessionsMax } from '../../domain/accounts.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import type { PrincipalUser } from '../../domain/principal.ts'
import { createToken, hashSecret } from '../../kernel/tokens.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import { autoJoinByDomain } from '../../areas/members/join-by-domain.ts'
import { recordFirstSignIn } from '../../areas/members/offers.repository.ts'
import { isLeaving } from '../../users/leavers.repository.ts'
import { isSuspended } from '../../users/users.repository.ts'
import { hasSecondFactor, insertPendingSignIn } from '../second-factor/second-factor.repository.ts'
import {
  deleteExcessSessions,
  deleteSessionByToken,
  insertSession,
  rememberBrowser,
} from '../sessions/sessions.repository.ts'

/** The browser that a person signs in with. */
export interface Browser {
  userAgent: string
  /** The cookie of its previous session, which ends, so that an attacker cannot plant a session. */
  sessionToken: string | undefined
  /** The cookie that identifies the browser. */
  browserToken: string
  /** The request of the sign-in. */
  requestId: string
}

// Many sign-ins in a short time result in one mail.
const noticeDelaySeconds = 30

const userAgentLengthMax = 300

/** How long a sign-in waits for its second step. */
export const secondStepMs = 10 * 60 * 1000

/** The token of a session or, if the person has two-step sign-in, of a sign-in that waits for its second step. */
export type SignInResult = StartedSession | { pendingToken: string; userId: string }

/** A session that has begun, by the token for its cookie. */
export interface StartedSession {
  sessionToken: string
  userId: string
}

interface SignIn {
  user: PrincipalUser
  browser: Browser
  now: Date
  jobs: JobQueue
}

/** Signs in a person who has passed the first step. The second step follows if they have two-step sign-in. */
export async function startSignIn(tx: Executor, signIn: SignIn): Promise<SignInResult> {
  const { user, browser, now } = signIn
  if (!(await hasSecondFactor(tx, user.id))) return startSession(tx, signIn)
  const pendingToken = createToken()
  await insertPendingSignIn(tx, {
    tokenHash: hashSecret(pendingToken),
    userId: user.id,
    browserHash: hashSecret(browser.browserToken),
    expiresAt: new Date(now.getTime() + secondStepMs),
  })
  return { pendingToken, userId: user.id }
}

/**
 * Starts a session for a person with a verified email address. The first sign-in also joins the workspace that allows
 * their domain, if there is exactly one. A sign-in with a new browser sends a mail. Returns the token for the cookie;
 * only its hash is stored. Throws `account_suspended` for a suspended person, and `account_leaving` for an account that will be
 * deleted: only here, where the person has proven who they are.
 */
export async function startSession(
  tx: Executor,
  { user, browser, now, jobs }: SignIn,
): Promise<StartedSession> {
  if (await isSuspended(tx, user.id)) throw errors.accountSuspended()
  if (await isLeaving(tx, user.id)) throw errors.accountLeaving()
  const token = createToken()
  const userAgent = browser.userAgent.replace(/\p{Cc}/gu, '').slice(0, userAgentLengthMax)
  if (browser.sessionToken !== undefined) await deleteSessionByToken(tx, hashSecret(browser.sessionToken))
  await insertSession(tx, {
    id: createId(),
    userId: user.id,
    tokenHash: hashSecret(token),
    userAgent,
    createdAt: now,
    lastUsedAt: now,
    expiresAt: new Date(now.getTime() + sessionLifetimeMs),
    provenAt: now,
  })
  await deleteExcessSessions(tx, user.id, sessionsMax)
  const known = { userId: user.id, tokenHash: hashSecret(browser.browserToken), usedAt: now }
  if (await rememberBrowser(tx, known)) {
    const notice = { userId: user.id, userAgent, at: now.toISOString() }
    const { requestId } = browser
    const options = { requestId, key: `signed-in:${user.id}`, delaySeconds: noticeDelaySeconds }
    await jobs.enqueue(tx, 'send_signed_in', notice, options)
  }
  if (await recordFirstSignIn(tx, user.id, now)) await autoJoinByDomain(tx, user, now)
  return { sessionToken: token, userId: user.id }
}
