import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { deriveKey, seal, unseal } from '../kernel/sealing.ts'
import { createToken, hashSecret } from '../kernel/tokens.ts'
import {
  deleteExcessFlashes,
  deleteFlash,
  findFlash,
  insertFlash,
  insertFlashOfEnded,
} from './flashes.repository.ts'

/** A session, with the token of its cookie. */
export interface SessionWithToken {
  sessionId: string
  token: string
}

/** A session with its user, and the token of the session that the browser had before. */
export interface ReaderOfFlash extends SessionWithToken {
  userId: string
  formerToken: string | undefined
}

/**
 * Short texts that a redirect leaves for the page that it leads to (docs/design/forms.md#answers-are-redirects). Only
 * the session that left one can read it: it is encrypted under a key derived from the cookie of the session, which is
 * not stored.
 */
export interface FlashesService {
  /** Keeps a text for ten minutes, or until it is read if `isOnce`. Returns its id. */
  keep(session: SessionWithToken, text: string, options: { isOnce: boolean }): Promise<string>
  /**
   * Keeps a text for an hour, for the user of a session that ended within a day. It is encrypted under a key derived from
   * the cookie of that session. Returns its id; undefined if there is no such session, and nothing is kept.
   */
  keepOfEnded(formerToken: string, text: string): Promise<string | undefined>
  /**
   * Finds the text of an id, of this session or of the user's former one; undefined if there is none, or if it was to be
   * read once and has been.
   */
  find(reader: ReaderOfFlash, id: string): Promise<string | undefined>
}

/** How long a flash can be read. */
export const flashLifetimeMs = 10 * 60 * 1000
/** How long a form can be read that was sent after its session had ended. */
export const keptFormLifetimeMs = 60 * 60 * 1000
/** How long a session is known after its end. */
export const endedSessionKnownMs = 24 * 60 * 60 * 1000

// A form has up to 64 KiB. People have few refused forms at once.
const flashesOfOwnerMax = 20

/** The key of what one browser keeps for the next page, from the secret of its cookie. */
export function flashKey(secret: string): Buffer {
  return deriveKey(secret, 'flash')
}

export function createFlashesService({ db, clock }: { db: Database; clock: Clock }): FlashesService {
  return {
    async keep({ sessionId, token }, text, { isOnce }) {
      const id = createToken()
      await insertFlash(db, {
        idHash: hashSecret(id),
        sessionId,
        sealed: seal(text, flashKey(token)),
        isOnce,
        expiresAt: new Date(clock.now().getTime() + flashLifetimeMs),
      })
      await deleteExcessFlashes(db, { sessionId }, flashesOfOwnerMax)
      return id
    },

    async keepOfEnded(formerToken, text) {
      const id = createToken()
      const now = clock.now()
      const userId = await insertFlashOfEnded(db, {
        idHash: hashSecret(id),
        tokenHash: hashSecret(formerToken),
        sealed: seal(text, flashKey(formerToken)),
        expiresAt: new Date(now.getTime() + keptFormLifetimeMs),
        now,
        endedAfter: new Date(now.getTime() - endedSessionKnownMs),
      })
      if (userId === undefined) return undefined
      await deleteExcessFlashes(db, { userId }, flashesOfOwnerMax)
      return id
    },

    async find({ sessionId, token, userId, formerToken }, id) {
      const key = { idHash: hashSecret(id), sessionId, userId }
      const flash = await findFlash(db, key, clock.now())
      if (!flash || (flash.isOnce && !(await deleteFlash(db, key)))) return undefined
      if (!flash.isOfEnded) return unseal(flash.sealed, flashKey(token))
      return formerToken === undefined ? undefined : tryUnseal(flash.sealed, flashKey(formerToken))
    },
  }
}

/** Decrypts what may be of another session of the same user, in another browser. */
function tryUnseal(sealed: Buffer, key: Buffer): string | undefined {
  try {
    return unseal(sealed, key)
  } catch {
    return undefined
  }
}
