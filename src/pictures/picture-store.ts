import { randomBytes } from 'node:crypto'
import type { ChangeContext, Changes } from '../access/change.ts'
import type { NewEvent } from '../areas/events/events.repository.ts'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import type { Principal } from '../kernel/principal.ts'
import type { ImageProcessor } from '../platform/images/images.port.ts'
import type { FileStorage, StoredFile } from '../platform/storage/storage.port.ts'
import {
  condemnPicture,
  deletePictureRow,
  insertUnusedPicture,
  listUnusedPictures,
  markPictureUnused,
  markPictureUsed,
} from './pictures.repository.ts'

/** The pictures of people and workspaces. */
export interface PictureStore {
  /**
   * Makes a picture of an upload, stores it and has it shown by `show`, a change that is also given the new key
   * and returns the key of the picture that was shown before. That one is deleted afterwards. Returns the new picture's
   * URL. Whatever fails, no file stays that nothing shows, and nothing shows a file that is not there. Throws what
   * ImageProcessor.toSquarePicture throws, and `storage_unavailable`.
   */
  replace(
    principal: Principal,
    upload: Buffer,
    show: (context: ChangeContext<Omit<NewEvent, 'at'>>, key: string) => Promise<string | null>,
  ): Promise<string>
  /** The public URL of a picture: absolute, unguessable, and for ever that of the same picture. */
  urlOf(key: string): string
  urlOf(key: string | null): string | null
  /** Opens a picture; undefined when there is none. Throws `storage_unavailable`. */
  open(key: string): Promise<StoredFile | undefined>
  /** Deletes what crashes have left behind. */
  collectUnused(): Promise<void>
}

export interface PictureStoreOptions {
  db: Database
  clock: Clock
  changes: Changes
  images: ImageProcessor
  storage: FileStorage
  baseUrl: string
  /** Told when a file could not be deleted; `collectUnused` tries again. */
  onDeleteError: (error: unknown) => void
}

/** Longer than any upload takes: what has been unused for so long is not about to be shown. */
const unusedForMs = 60 * 60 * 1000
const collectedAtOnce = 100
const storageRetryAfterSeconds = 5
const keyPattern = /^[A-Za-z0-9_-]{32}\.webp$/

export function createPictureStore(options: PictureStoreOptions): PictureStore {
  const { db, clock, changes, images, storage, baseUrl, onDeleteError } = options

  async function discard(key: string): Promise<void> {
    try {
      // A transaction that failed while it was committed may have been: then the picture is shown, and stays.
      if (!(await condemnPicture(db, key))) return
      await storage.delete(key)
      await deletePictureRow(db, key)
    } catch (error) {
      onDeleteError(error)
    }
  }

  function urlOf(key: string): string
  function urlOf(key: string | null): string | null
  function urlOf(key: string | null): string | null {
    return key === null ? null : `${baseUrl}/pictures/${key}`
  }

  return {
    urlOf,

    async replace(principal, upload, show) {
      const content = await images.toSquarePicture(upload)
      const key = `${randomBytes(24).toString('base64url')}.webp`
      // Written down as unused before it is stored: a crash from here on leaves a row by which the file is found.
      await insertUnusedPicture(db, key, clock.now())
      const shown: { before: string | null } = { before: null }
      try {
        await storage.put(key, content).catch(refuse)
        await changes.make(principal, async (context) => {
          const { tx, now } = context
          shown.before = await show(context, key)
          if (!(await markPictureUsed(tx, key)))
            throw new Error('the picture was collected before it was shown')
          if (shown.before !== null) await markPictureUnused(tx, shown.before, now)
          return urlOf(key)
        })
      } catch (error) {
        await discard(key)
        throw error
      }
      if (shown.before !== null) await discard(shown.before)
      return urlOf(key)
    },

    open: async (key) => (keyPattern.test(key) ? storage.open(key).catch(refuse) : undefined),

    async collectUnused() {
      const before = new Date(clock.now().getTime() - unusedForMs)
      for (const key of await listUnusedPictures(db, before, collectedAtOnce)) await discard(key)
    },
  }
}

/** A disk or an object store in trouble may be out of it soon. */
function refuse(cause: unknown): never {
  throw errors.storageUnavailable({ cause, retryAfterSeconds: storageRetryAfterSeconds })
}
