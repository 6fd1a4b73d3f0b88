import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { parseEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import type { AppSecret } from '../../platform/secrets/app-secret.port.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import {
  deleteSessionByToken,
  deleteSessionOfUser,
  deleteSessionsOfUser,
  findLiveSession,
  findRenewals,
  hasSignedInWith,
  listLiveSessions,
  extendSession,
  type RecentWorkspace,
} from './sessions.repository.ts'
import { renewSessionOf } from './prove-session.ts'
import { sessionLifetimeMaxMs, sessionLifetimeMs } from '../../domain/accounts.ts'

export type { RecentWorkspace }

/** A browser in which a person is signed in. */
export interface Session {
  id: string
  userAgent: string
  createdAt: string
  lastUsedAt: string
}

/** What every page shows of a person, besides the name. */
export interface Shell {
  /** The URL of the photo. */
  imageUrl: string | null
  /** The workspaces that they used last, at most 20. */
  workspaces: RecentWorkspace[]
  /** The number of unread notifications, up to `unreadCountMax`. */
  unreadCount: number
}

/** A live session and its person. */
export interface SignedIn {
  sessionId: string
  principal: Principal
  shell: Shell
  /** Whether the session was just extended, so that its cookie must be set again. */
  isExtended: boolean
  /** The other cookie of a session that was renewed, as it is set now: the caller's may be of the APP_SECRET before. */
  renewal: string | undefined
  /** Whether the person has proven who they are within the last 15 minutes, at the sign-in or since. */
  isProven: boolean
}

export interface SessionsService {
  /**
   * Finds and extends the session of a cookie; undefined if it has ended, or if it was renewed and `renewal` is not that
   * of its last renewal.
   */
  find(token: string, renewal?: string): Promise<SignedIn | undefined>
  /**
   * The cookie that a session has needed beside its own since its last renewal; undefined before the first one, and for a
   * session that has ended.
   */
  findRenewal(session: { sessionId: string; token: string }): Promise<string | undefined>
  /** The caller's sessions, the most recently used first. */
  list(principal: Principal): Promise<Session[]>
  /** Ends the session of a cookie, if it is live. */
  endByToken(token: string): Promise<void>
  /** Ends a session. Returns its `User-Agent`. Throws `not_found` if it is not the caller's. */
  end(principal: Principal, sessionId: string): Promise<string>
  /** Ends the caller's sessions except the one of the caller, which is renewed. Throws `sign_in_required`. */
  endOthers(principal: Principal): Promise<void>
  /**
   * Whether the person with an email address has signed in with the browser of a cookie. False for a text that is no
   * address. The same work whether or not the address has an account.
   */
  isKnownBrowser(email: string, browserToken: string): Promise<boolean>
}

// Not at every request, since that would write on every read.
const extendedEveryMs = 60 * 60 * 1000

const proofLifetimeMs = 15 * 60 * 1000

/** The sessions of the website. */
export function createSessionsService(options: {
  db: Database
  clock: Clock
  pictures: PictureStore
  appSecret: AppSecret
}): SessionsService {
  const { db, clock, pictures, appSecret } = options
  const tags = appSecret.tagsOf('renewed sessions')
  /** A pure function of the session and the number of its renewals, so that parallel requests set the same cookie. */
  const toRenewal = (token: string, renewals: number) =>
    tags.create(`${renewals} ${token}`).toString('base64url')
  const isRenewal = (renewal: string, token: string, renewals: number) =>
    tags.isValid(`${renewals} ${token}`, Buffer.from(renewal, 'base64url'))

  return {
    async find(token, renewal = '') {
      const now = clock.now()
      const session = await findLiveSession(db, {
        tokenHash: hashSecret(token),
        now,
        pictureUrlPrefix: pictures.urlPrefix,
      })
      if (!session) return undefined
      const { renewals } = session
      if (renewals > 0 && !isRenewal(renewal, token, renewals)) return undefined
      const lastMs = session.createdAt.getTime() + sessionLifetimeMaxMs
      // Earlier releases may have extended a session beyond the limit.
      if (lastMs <= now.getTime()) return undefined
      const isExtended = now.getTime() - session.lastUsedAt.getTime() >= extendedEveryMs
      if (isExtended) {
        const expiresAt = new Date(Math.min(now.getTime() + sessionLifetimeMs, lastMs))
        await extendSession(db, session.id, { lastUsedAt: now, expiresAt })
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
        shell: {
          imageUrl: pictures.urlOf(session.user.imageKey),
          workspaces: session.workspaces,
          unreadCount: session.unreadCount,
        },
        isExtended,
        renewal: renewals > 0 ? toRenewal(token, renewals) : undefined,
        isProven: session.provenAt !== null && now.getTime() - session.provenAt.getTime() < proofLifetimeMs,
      }
    },

    async findRenewal({ sessionId, token }) {
      const renewals = await findRenewals(db, sessionId)
      return renewals ? toRenewal(token, renewals) : undefined
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
      const userAgent = isId(sessionId)
        ? await deleteSessionOfUser(db, { id: sessionId, userId: user.id })
        : undefined
      if (userAgent === undefined) throw errors.notFound()
      return userAgent
    },

    endOthers: (principal) =>
      db.transaction(async (tx) => {
        const { sessionId, user } = principal
        await deleteSessionsOfUser(tx, user.id, sessionId ?? undefined)
        await renewSessionOf(tx, principal, { at: clock.now() })
      }),

    async isKnownBrowser(text, browserToken) {
      const email = parseEmail(text)
      return email !== undefined && hasSignedInWith(db, { email, tokenHash: hashSecret(browserToken) })
    },
  }
}
