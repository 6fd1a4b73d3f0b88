import type { Executor } from '../db/client.ts'
import { createId } from '../kernel/ids.ts'
import type { PrincipalUser } from '../kernel/principal.ts'
import { createToken, hashSecret } from '../kernel/tokens.ts'
import { joinAllowingWorkspaces } from './join-allowing-workspaces.ts'
import { deleteSessionByToken, insertSession } from './sessions.repository.ts'

/** How long a session lasts after it was last used. */
export const sessionLifetimeMs = 30 * 24 * 60 * 60 * 1000

/** The browser that somebody signs in with. */
export interface Browser {
  userAgent: string
  /** The cookie of the session that it had so far, which ends: nobody goes on in what another may have prepared. */
  sessionToken: string | undefined
}

const userAgentLengthMax = 300

/**
 * Signs a person in whose address is known to be theirs: a new session, and a place in each workspace that allows their
 * domain. Returns what the cookie holds, which nothing stores.
 */
export async function startSession(
  tx: Executor,
  { user, browser, now }: { user: PrincipalUser; browser: Browser; now: Date },
): Promise<string> {
  const token = createToken()
  if (browser.sessionToken !== undefined) await deleteSessionByToken(tx, hashSecret(browser.sessionToken))
  await insertSession(tx, {
    id: createId(),
    userId: user.id,
    tokenHash: hashSecret(token),
    userAgent: browser.userAgent.replace(/\p{Cc}/gu, '').slice(0, userAgentLengthMax),
    createdAt: now,
    lastUsedAt: now,
    expiresAt: new Date(now.getTime() + sessionLifetimeMs),
  })
  await joinAllowingWorkspaces(tx, user, now)
  return token
}
