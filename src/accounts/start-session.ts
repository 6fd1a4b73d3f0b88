import type { Executor } from '../db/client.ts'
import { createId } from '../kernel/ids.ts'
import type { PrincipalUser } from '../kernel/principal.ts'
import { createToken, hashSecret } from '../kernel/tokens.ts'
import type { JobQueue } from '../platform/jobs/jobs.port.ts'
import { joinOnlyWorkspaceOfDomain } from './join-by-domain.ts'
import { recordFirstSignIn } from './offers.repository.ts'
import { deleteSessionByToken, insertSession, rememberBrowser } from './sessions.repository.ts'

/** How long a session lasts after it was last used. */
export const sessionLifetimeMs = 30 * 24 * 60 * 60 * 1000
/** How long a session lasts, however often it is used. */
export const sessionLifetimeMaxMs = 90 * 24 * 60 * 60 * 1000

/** The browser that somebody signs in with. */
export interface Browser {
  userAgent: string
  /** The cookie of the session that it had so far, which ends: nobody goes on in what another may have prepared. */
  sessionToken: string | undefined
  /** The cookie by which it is known as one that this person has signed in with. */
  browserToken: string
}

/** How long a browser is known after the last sign-in with it. */
export const browserKnownMs = 400 * 24 * 60 * 60 * 1000

// Whoever signs in again and again, with the password of another, must not fill their mailbox.
const noticeDelaySeconds = 30

const userAgentLengthMax = 300

/**
 * Signs a person in whose address is known to be theirs: a new session, and the first time a place in the workspace that
 * allows their domain, when it is the only one. A sign-in with a browser that they have not used before is told to them by
 * mail. Returns what the cookie holds, which nothing stores.
 */
export async function startSession(
  tx: Executor,
  { user, browser, now, jobs }: { user: PrincipalUser; browser: Browser; now: Date; jobs: JobQueue },
): Promise<string> {
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
  })
  const known = { userId: user.id, tokenHash: hashSecret(browser.browserToken), usedAt: now }
  if (await rememberBrowser(tx, known)) {
    const notice = { userId: user.id, userAgent, at: now.toISOString() }
    const options = { key: `signed-in:${user.id}`, delaySeconds: noticeDelaySeconds }
    await jobs.enqueue(tx, 'send_signed_in', notice, options)
  }
  if (await recordFirstSignIn(tx, user.id, now)) await joinOnlyWorkspaceOfDomain(tx, user, now)
  return token
}
