import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { deriveKey, seal, unseal } from '../kernel/sealing.ts'
import { createToken, hashSecret } from '../kernel/tokens.ts'
import { deleteExcessFlashes, deleteFlash, findFlash, insertFlash } from './flashes.repository.ts'

/** A session, with the token of its cookie. */
export interface SessionWithToken {
  sessionId: string
  token: string
}

/**
 * Short texts that a redirect leaves for the page that it leads to (decision 0098). Only the session that left one can
 * read it: it is encrypted under a key derived from the cookie of the session, which is not stored.
 */
export interface FlashesService {
  /** Keeps a text for ten minutes, or until it is read if `isOnce`. Returns its id. */
  keep(session: SessionWithToken, text: string, options: { isOnce: boolean }): Promise<string>
  /** Finds the text of an id; undefined if there is none, or if it was to be read once and has been. */
  find(session: SessionWithToken, id: string): Promise<string | undefined>
}

/** How long a flash can be read. */
export const flashLifetimeMs = 10 * 60 * 1000

// A form has up to 64 KiB. People have few refused forms at once.
const flashesOfSessionMax = 20

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
      await deleteExcessFlashes(db, sessionId, flashesOfSessionMax)
      return id
    },

    async find({ sessionId, token }, id) {
      const key = { idHash: hashSecret(id), sessionId }
      const flash = await findFlash(db, key, clock.now())
      if (!flash || (flash.isOnce && !(await deleteFlash(db, key)))) return undefined
      return unseal(flash.sealed, flashKey(token))
    },
  }
}
