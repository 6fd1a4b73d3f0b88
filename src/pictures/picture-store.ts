import { randomBytes } from 'node:crypto'
import type { Changes, OwnChangeContext } from '../access/change.ts'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import type { Principal } from '../domain/principal.ts'
import type { ImageProcessor } from '../platform/images/images.port.ts'
import type { FileStorage, StoredFile } from '../platform/storage/storage.port.ts'
import {
  deletePictureRow,
  insertUnusedPicture,
  listUnusedPictures,
  markPictureForDeletion,
  markPictureUnused,
  markPictureUsed,
} from './pictures.repository.ts'

/** The pictures of people and workspaces. */
export interface PictureStore {
  /**
   * Converts an upload, stores it, and makes the change `show`, which sets the new key and returns the previous one.
   * Deletes the previous picture after the commit. If anything fails, the change is rolled back and the new file is
   * deleted. Returns the URL. Throws `storage_unavailable`, and what ImageProcessor.toSquarePicture throws.
   */
  replace(
    principal: Principal,
    upload: Buffer,
    show: (context: OwnChangeContext, key: string) => Promise<string | null>,
  ): Promise<string>
  /**
   * Makes the change `hide`, which removes a key and returns it; null if there was none. Deletes the picture after the
   * commit.
   */
  remove(principal: Principal, hide: (context: OwnChangeContext) => Promise<string | null>): Promise<void>
  /** The public URL of a picture: absolute, unguessable and immutable. */
  urlOf(key: string): string
  urlOf(key: string | null): string | null
  /** The part of the URL before the key, for statements that return JSON. */
  urlPrefix: string
  /** Opens a picture. Returns undefined if it does not exist. Throws `storage_unavailable`. */
  open(key: string): Promise<StoredFile | undefined>
  /** Stores a file and deletes it. Throws what the storage throws. */
  assertStorable(): Promise<void>
  /** Deletes unused pictures, such as those left over from a crash. */
  collectUnused(): Promise<void>
}

export interface PictureStoreOptions {
  db: Database
  clock: Clock
  changes: Changes
  images: ImageProcessor
  storage: FileStorage
  baseUrl: string
  /** Called when a file could not be deleted. `collectUnused` retries. */
  onDeleteError: (error: unknown) => void
}

/** Longer than any upload takes, so that a picture of a running upload is not deleted. */
const unusedForMs = 60 * 60 * 1000
const collectedAtOnce = 100
const storageRetryAfterSeconds = 5
const keyPattern = /^[A-Za-z0-9_-]{32}\.webp$/

const createKey = () => `${randomBytes(24).toString('base64url')}.webp`

export function createPictureStore(options: PictureStoreOptions): PictureStore {
  const { db, clock, changes, images, storage, baseUrl, onDeleteError } = options

  const urlPrefix = `${baseUrl}/pictures/`

  async function discard(key: string): Promise<void> {
    try {
      // If the connection broke during the commit, the change may have been committed. Then the picture is in use.
      if (!(await markPictureForDeletion(db, key))) return
      await storage.delete(key)
      await deletePictureRow(db, key)
    } catch (error) {
      onDeleteError(error)
    }
  }

  function urlOf(key: string): string
  function urlOf(key: string | null): string | null
  function urlOf(key: string | null): string | null {
    return key === null ? null : urlPrefix + key
  }

  return {
    urlOf,
    urlPrefix,

    async assertStorable() {
      const key = createKey()
      await storage.put(key, Buffer.from('a file to see whether files can be stored'))
      await storage.delete(key)
    },

    async replace(principal, upload, show) {
      const content = await images.toSquarePicture(upload)
      const key = createKey()
      // Inserted as unused before the file is stored, so that the file is found after a crash.
      await insertUnusedPicture(db, key, clock.now())
      const shown: { before: string | null } = { before: null }
      try {
        await storage.put(key, content).catch(throwUnavailable)
        await changes.make(principal, async (context) => {
          const { tx, now } = context
          shown.before = await show(context, key)
          if (!(await markPictureUsed(tx, key))) throw new Error('the picture was deleted before it was used')
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

    async remove(principal, hide) {
      const key = await changes.make(principal, async (context) => {
        const before = await hide(context)
        if (before !== null) await markPictureUnused(context.tx, before, context.now)
        return before
      })
      if (key !== null) await discard(key)
    },

    open: async (key) => (keyPattern.test(key) ? storage.open(key).catch(throwUnavailable) : undefined),

    async collectUnused() {
      const before = new Date(clock.now().getTime() - unusedForMs)
      for (const key of await listUnusedPictures(db, before, collectedAtOnce)) await discard(key)
    },
  }
}

function throwUnavailable(cause: unknown): never {
  throw errors.storageUnavailable({ cause, retryAfterSeconds: storageRetryAfterSeconds })
}
