import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { Principal } from '../kernel/principal.ts'
import { hashSecret } from '../kernel/tokens.ts'
import {
  deleteSessionByToken,
  deleteSessionOfUser,
  deleteSessionsOfUser,
  findLiveSession,
  listLiveSessions,
  prolongSession,
} from './sessions.repository.ts'
import { sessionLifetimeMaxMs, sessionLifetimeMs } from './start-session.ts'

/** A browser in which a person is signed in. */
export interface Session {
  id: string
  userAgent: string
  createdAt: string
  lastUsedAt: string
}

/** Who a cookie stands for. */
export interface SignedIn {
  sessionId: string
  principal: Principal
  /** Whether the end of the session was moved away just now, so that the cookie's has to be as well. */
  isProlonged: boolean
}

export interface SessionsService {
  /** Who is signed in with a cookie; undefined when its session has ended. Using a session keeps it alive. */
  find(token: string): Promise<SignedIn | undefined>
  /** The caller's sessions, the one used last first. */
  list(principal: Principal): Promise<Session[]>
  /** Signs out. */
  endByToken(token: string): Promise<void>
  /** Throws `not_found` for a session that is not the caller's. */
  end(principal: Principal, sessionId: string): Promise<void>
  endOthers(principal: Principal, sessionId: string): Promise<void>
}

// Reading a page must not mean a write each time.
const prolongedEveryMs = 60 * 60 * 1000

/** The sessions of the website. */
export function createSessionsService({ db, clock }: { db: Database; clock: Clock }): SessionsService {
  return {
    async find(token) {
      const now = clock.now()
      const session = await findLiveSession(db, hashSecret(token), now)
      if (!session) return undefined
      const lastMs = session.createdAt.getTime() + sessionLifetimeMaxMs
      // One of an earlier release may have been prolonged beyond it.
      if (lastMs <= now.getTime()) return undefined
      const isProlonged = now.getTime() - session.lastUsedAt.getTime() >= prolongedEveryMs
      if (isProlonged) {
        const expiresAt = new Date(Math.min(now.getTime() + sessionLifetimeMs, lastMs))
        await prolongSession(db, session.id, { lastUsedAt: now, expiresAt })
      }
      return {
        sessionId: session.id,
        principal: {
          user: session.user,
          source: 'web',
          apiKeyId: null,
          sessionId: session.id,
          grantId: null,
        },
        isProlonged,
      }
    },

    async list({ user }) {
      const rows = await listLiveSessions(db, user.id, clock.now())
      return rows.map((row) => ({
        ...row,
        createdAt: row.createdAt.toISOString(),
        lastUsedAt: row.lastUsedAt.toISOString(),
      }))
    },

    endByToken: (token) => deleteSessionByToken(db, hashSecret(token)),

    async end({ user }, sessionId) {
      const isEnded = isId(sessionId) && (await deleteSessionOfUser(db, { id: sessionId, userId: user.id }))
      if (!isEnded) throw errors.notFound()
    },

    endOthers: ({ user }, sessionId) => deleteSessionsOfUser(db, user.id, sessionId),
  }
}
